// line_check.cc: see line_check.h.
#include "model/line_check.h"

#include <limits>

namespace eventq {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

bool ends_work(const LogStep& step) {
  return ends_life(step) || step.action == "FAILED" || step.action == "RELEASED" || step.action == "RESET";
}

}  // namespace

// Log entry ids serve as the time: within one line, a later change has a larger id.
//
// A life lasts from the publication, or from a reset after an end, to the next end. Work lasts from a claim
// until a report, an end or a reset. An earlier event was published first, so check_claim() finds every claim
// during its first life. But an earlier event can be reset and claimed while a later one is in work. Only
// end_work() finds that, by comparing the work in later lives with the work of this event.
std::vector<LineFault> LineCheck::add(std::int64_t id, const std::vector<LogStep>& log) {
  std::vector<LineFault> faults;
  std::vector<Span> lives{{id, 0, kNever}};
  std::vector<Span> later_work;
  std::int64_t working_since = 0;  // 0: no worker holds it
  const auto end_work = [&](std::int64_t at) {
    if (working_since == 0) return;
    for (const Span& other : later_work_) {
      if (working_since < other.to && other.from < at) {
        faults.push_back({working_since, "was in work while event " + std::to_string(other.event) + " was"});
      }
    }
    if (lives.size() > 1) later_work.push_back({id, working_since, at});
    working_since = 0;
  };
  for (const LogStep& step : log) {
    // A claim of an event in work is a takeover after its lease expired, which does not change the order.
    if (step.action == "PICKED" && working_since == 0) {
      check_claim(step.id, faults);
      working_since = step.id;
    }
    if (ends_work(step)) end_work(step.id);
    const bool live = lives.back().to == kNever;
    if (ends_life(step) && live) lives.back().to = step.id;
    if (step.action == "RESET" && !live) lives.push_back({id, step.id, kNever});
  }
  end_work(kNever);

  // A claim after the latest end of a first life comes after the ends of all first lives, so only the life
  // that ended last is kept.
  if (lives.front().to > last_first_life_.to) last_first_life_ = lives.front();
  later_lives_.insert(later_lives_.end(), lives.begin() + 1, lives.end());
  later_work_.insert(later_work_.end(), later_work.begin(), later_work.end());
  return faults;
}

void LineCheck::check_claim(std::int64_t claim, std::vector<LineFault>& faults) const {
  const auto too_early = [&](const Span& before) {
    faults.push_back({claim, "was claimed before event " + std::to_string(before.event) + " had ended"});
  };
  if (claim < last_first_life_.to) return too_early(last_first_life_);
  for (const Span& life : later_lives_) {
    if (life.from < claim && claim < life.to) return too_early(life);
  }
}

}  // namespace eventq
