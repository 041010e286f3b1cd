// log_walk.cc: see log_walk.h.
#include "model/log_walk.h"

#include <utility>

namespace eventq {
namespace {

// The state after the steps taken so far. take() and its helpers return false for a step that breaks the
// rules.
class LogWalker {
 public:
  explicit LogWalker(const WalkRules& rules) : rules_(rules) {}

  [[nodiscard]] const WalkEnd& end() const { return now_; }

  bool take(const LogStep& step) {
    // A commit writes ABANDONED together with the PICKED or the FAILED that follows from it.
    const bool abandoned = std::exchange(abandoned_, false);
    if (abandoned && step.action != "PICKED" && !(step.action == "FAILED" && step.worker_id.empty()))
      return false;
    if (step.action == "PICKED") return pick(step, abandoned);
    if (step.attempt != now_.attempts) return false;
    if (step.action == "RESET") return reset(step);
    if (step.action == "CANCELLED") return cancel(step);
    if (step.action == "SUPERSEDED") return supersede(step);
    if (step.action == "FAILED" && step.worker_id.empty()) return give_up(abandoned);
    if (now_.status != "PROCESSING" || step.worker_id != now_.worker_id) return false;
    if (step.action == "STARTED") return !std::exchange(started_, true);
    if (step.action == "ABANDONED") return abandoned_ = true;
    if (step.action == "COMPLETED") return complete(step);
    if (step.action == "FAILED") return fail(step);
    if (step.action == "RELEASED") return release();
    return false;
  }

 private:
  bool pick(const LogStep& step, bool abandoned) {
    if (now_.status != (abandoned ? "PROCESSING" : "PENDING")) return false;
    if (step.worker_id.empty() || step.attempt != now_.attempts + 1) return false;
    if (rules_.max_attempts && now_.unreported >= *rules_.max_attempts) return false;
    now_.status = "PROCESSING";
    now_.attempts += 1;
    now_.unreported += 1;
    now_.worker_id = step.worker_id;
    started_ = false;
    return true;
  }

  bool complete(const LogStep& step) {
    now_.status = step.errors ? "COMPLETED_WITH_ERRORS" : "COMPLETED";
    now_.unreported = 0;
    return true;
  }

  bool fail(const LogStep& step) {
    now_.retry_count += 1;
    now_.unreported = 0;
    const bool retries_left = now_.retry_count < rules_.max_retries;
    if (step.retries != retries_left && !(rules_.permanent && retries_left)) return false;
    if (step.retries) {
      wait();
    } else {
      now_.status = "FAILED";
    }
    return true;
  }

  bool give_up(bool abandoned) {
    if (!abandoned || (rules_.max_attempts && now_.unreported < *rules_.max_attempts)) return false;
    now_.status = "FAILED";
    return true;
  }

  bool release() {
    now_.unreported -= 1;
    wait();
    return true;
  }

  bool reset(const LogStep& step) {
    const bool may = now_.status == "PENDING" || now_.status == "PROCESSING" || now_.status == "FAILED" ||
                     now_.status == "CANCELLED";
    if (!may || !step.worker_id.empty()) return false;
    now_.retry_count = 0;
    now_.unreported = 0;
    wait();
    return true;
  }

  bool cancel(const LogStep& step) {
    const bool may = now_.status == "PENDING" || now_.status == "PROCESSING" || now_.status == "FAILED";
    if (!may || !step.worker_id.empty()) return false;
    now_.status = "CANCELLED";
    return true;
  }

  bool supersede(const LogStep& step) {
    if (now_.status != "PENDING" || !step.worker_id.empty()) return false;
    now_.status = "SUPERSEDED";
    return true;
  }

  void wait() {
    now_.status = "PENDING";
    now_.worker_id.clear();
  }

  const WalkRules rules_;
  WalkEnd now_;
  bool started_ = false;    // this attempt
  bool abandoned_ = false;  // the last step was ABANDONED
};

std::string describe(const LogStep& step) {
  return step.action + " attempt=" + std::to_string(step.attempt) + " worker_id=" + step.worker_id +
         (step.retries ? " retries" : "") + (step.errors ? " errors" : "");
}

std::string path_to(const std::vector<LogStep>& log, const LogStep& last) {
  std::string path;
  for (const LogStep& step : log) {
    path += (path.empty() ? "" : ", ") + describe(step);
    if (&step == &last) break;
  }
  return " [" + path + "]";
}

bool has_ended(const WalkEnd& end) { return end.status != "PENDING" && end.status != "PROCESSING"; }

}  // namespace

bool ends_life(const LogStep& step) {
  return step.action == "COMPLETED" || step.action == "CANCELLED" || step.action == "SUPERSEDED" ||
         (step.action == "FAILED" && !step.retries);
}

Walk walk_log(const std::vector<LogStep>& log, const WalkRules& rules) {
  LogWalker walker(rules);
  for (const LogStep& step : log) {
    const WalkEnd before = walker.end();
    if (walker.take(step)) continue;
    return {walker.end(),
            "after " + describe(before) + " there cannot be " + describe(step) + path_to(log, step),
            has_ended(before) ? BrokenPromise::one_end : BrokenPromise::one_holder, step.id};
  }
  if (!log.empty() && log.back().action == "ABANDONED") {
    return {walker.end(), "the log ends with ABANDONED" + path_to(log, log.back()), BrokenPromise::one_holder,
            log.back().id};
  }
  return {walker.end(), std::nullopt};
}

std::string describe(const WalkEnd& end) {
  return end.status + " attempts=" + std::to_string(end.attempts) +
         " retry_count=" + std::to_string(end.retry_count) + " unreported=" + std::to_string(end.unreported) +
         " worker_id=" + end.worker_id;
}

}  // namespace eventq
