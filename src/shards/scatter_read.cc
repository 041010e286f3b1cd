// scatter_read.cc: commands that all shards answer at the same time: lists, queues, metrics, probes, and
// whether something has ended.
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "engine/metrics_calls.h"
#include "model/shard_of.h"
#include "shards/merge.h"
#include "shards/scatter.h"

namespace eventq {
namespace {

// Each shard must return all events up to the end of the page, because any of them may belong to the page; so
// the offset bounds what a list costs.
constexpr std::int64_t kOffsetMax = 100'000;

std::optional<Error> refuse_offset(const ListFilter& filter) {
  const std::string go_on = " Go on with `cursor`, the `next` of the last page.";
  if (filter.offset > kOffsetMax) {
    return Error{ErrorCode::invalid_argument, "With several databases offset is from 0 to 100000." + go_on,
                 "offset"};
  }
  // The skipped events would count toward the bytes of a page, and could end it before the offset.
  if (filter.offset > 0 && filter.include.any()) {
    return Error{ErrorCode::invalid_argument,
                 "With several databases offset and include cannot be combined." + go_on, "offset"};
  }
  return std::nullopt;
}

// Metrics, workers and the empty command go to every commit thread of every shard: each thread has counters
// of its own, and an empty command is answered when all commands sent before it are done. Reads, probes
// and sign-offs go to one thread of each shard.
class ReadScatter final : public Scatter {
 public:
  explicit ReadScatter(Command command) : command_(std::move(command)) {}

  void start(Dispatch& dispatch) override {
    if (dispatch.shards() > 1 && command_.list) {
      if (auto fault = refuse_offset(*command_.list)) return dispatch.finish({.page = std::move(*fault)});
    }
    const bool one_thread =
        command_.is_read() || command_.probe || std::holds_alternative<SignOff>(command_.admin);
    for (int shard = 0; shard < dispatch.shards(); ++shard) {
      answers_.push_back({shard, {}});
      const std::size_t threads = one_thread ? 1 : dispatch.commit_threads(shard);
      outstanding_ += threads;
      for (std::size_t thread = 0; thread < threads; ++thread) {
        dispatch.send(shard, for_each_shard(command_, dispatch.shards()),
                      one_thread ? std::nullopt : std::optional(thread));
      }
    }
  }

  void take_answer(Dispatch& dispatch, int shard, Answer answer) override {
    answers_[static_cast<std::size_t>(shard)].commit_threads.push_back(std::move(answer));
    if (--outstanding_ > 0) return;
    Answer whole = merge(command_, std::exchange(answers_, {}));
    if (measured_) return dispatch.finish(with_unattended(*std::move(measured_), asked_, whole));
    asked_ = left_to_count(whole);
    if (asked_.empty()) return dispatch.finish(std::move(whole));
    measured_ = std::move(whole);
    command_ = {.admin = UnattendedQuery{asked_}};
    start(dispatch);
  }

 private:
  Command command_;
  std::vector<ShardAnswer> answers_;
  // The second step of a MetricsRequest, see metrics_calls.h.
  std::optional<Answer> measured_;
  std::vector<AskedTags> asked_;
  std::size_t outstanding_ = 0;
};

// Asks whether something has ended. The end of an event is known to its shard; a correlation or a queue has
// ended when it has ended on all shards.
class WaitScatter final : public Scatter {
 public:
  WaitScatter(WaitRequest wait, Answer so_far) : wait_(std::move(wait)), whole_(std::move(so_far)) {}

  void start(Dispatch& dispatch) override {
    const auto* id = std::get_if<EventId>(&wait_.what);
    for (int shard = 0; shard < dispatch.shards(); ++shard) {
      if (id != nullptr && shard != shard_of(*id, dispatch.shards())) continue;
      ++outstanding_;
      dispatch.send(shard, {.wait = WaitRequest{wait_.what, Millis(0)}});
    }
  }

  void take_answer(Dispatch& dispatch, int, Answer answer) override {
    // A shard knows a correlation or a queue only after its first event there, so one that knows it is
    // enough.
    if (answer.error && answer.error->code == ErrorCode::not_found) {
      not_found_ = std::move(answer.error);
    } else if (answer.error) {
      error_ = std::move(answer.error);
    } else {
      found_ = true;
      all_ended_ = all_ended_ && answer.waited;
    }
    if (--outstanding_ > 0) return;
    if (error_) {
      whole_.error = std::move(error_);
    } else if (!found_) {
      whole_.error = std::move(not_found_);
    } else {
      whole_.waited = all_ended_;
    }
    if (whole_.error || whole_.waited || forgotten_ || wait_.timeout == Millis(0)) {
      return dispatch.finish(std::move(whole_));
    }
    dispatch.keep_waiting(wait_, std::move(whole_));
  }

 private:
  const WaitRequest wait_;
  Answer whole_;
  std::size_t outstanding_ = 0;
  std::optional<Error> error_;
  std::optional<Error> not_found_;
  bool found_ = false;
  bool all_ended_ = true;
};

}  // namespace

std::unique_ptr<Scatter> make_read(Command command) {
  return std::make_unique<ReadScatter>(std::move(command));
}
std::unique_ptr<Scatter> make_wait(WaitRequest wait, Answer so_far) {
  return std::make_unique<WaitScatter>(std::move(wait), std::move(so_far));
}

}  // namespace eventq
