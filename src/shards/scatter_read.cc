// scatter_read.cc: reads that all shards answer at the same time: lists, queues, metrics, and whether
// something has ended.
#include <utility>
#include <variant>

#include "shards/merge.h"
#include "shards/placement.h"
#include "shards/scatter.h"

namespace eventq {
namespace {

// Each shard must return all events up to the end of the page, because any of them may belong to the page; so
// the offset bounds what a list costs.
constexpr std::int64_t kOffsetMax = 100'000;

class ReadScatter final : public Scatter {
 public:
  explicit ReadScatter(Command command) : command_(std::move(command)) {}

  void start(Dispatch& dispatch) override {
    if (dispatch.shards() > 1 && command_.list && command_.list->offset > kOffsetMax) {
      Answer refused;
      refused.page = Error{ErrorCode::invalid_argument,
                           "With several databases offset is from 0 to 100000. Go on with `after_id`, the id "
                           "of the last event seen.",
                           "offset"};
      return dispatch.finish(std::move(refused));
    }
    const bool every_commit_thread = !command_.is_read();
    for (int shard = 0; shard < dispatch.shards(); ++shard) {
      answers_.push_back({shard, {}});
      outstanding_ += every_commit_thread ? dispatch.commit_threads(shard) : 1;
    }
    for (int shard = 0; shard < dispatch.shards(); ++shard) {
      for (std::size_t commit_thread = 0;
           commit_thread < (every_commit_thread ? dispatch.commit_threads(shard) : 1); ++commit_thread) {
        dispatch.send(shard, for_each_shard(command_, dispatch.shards()), commit_thread);
      }
    }
  }

  void take_answer(Dispatch& dispatch, int shard, Answer answer) override {
    answers_[static_cast<std::size_t>(shard)].commit_threads.push_back(std::move(answer));
    if (--outstanding_ == 0) dispatch.finish(merge(command_, std::move(answers_)));
  }

 private:
  const Command command_;
  std::vector<ShardAnswer> answers_;
  std::size_t outstanding_ = 0;
};

// Asks whether something has ended. The end of an event is known to its shard; a correlation or a queue has
// ended when it has ended on all shards.
class WaitScatter final : public Scatter {
 public:
  WaitScatter(WaitRequest wait, Answer so_far) : wait_(std::move(wait)), whole_(std::move(so_far)) {}

  void start(Dispatch& dispatch) override {
    std::vector<int> shards;
    shards.reserve(static_cast<std::size_t>(dispatch.shards()));
    for (int shard = 0; shard < dispatch.shards(); ++shard) shards.push_back(shard);
    if (const auto* id = std::get_if<EventId>(&wait_.what)) shards = {shard_of(*id, dispatch.shards())};
    outstanding_ = shards.size();
    for (const int shard : shards) {
      Command command;
      command.wait = WaitRequest{wait_.what, Millis(0)};
      dispatch.send(shard, std::move(command));
    }
  }

  void take_answer(Dispatch& dispatch, int, Answer answer) override {
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

  void forget() override { forgotten_ = true; }

 private:
  const WaitRequest wait_;
  Answer whole_;
  std::size_t outstanding_ = 0;
  std::optional<Error> error_;
  std::optional<Error> not_found_;
  bool found_ = false;
  bool all_ended_ = true;
  bool forgotten_ = false;
};

}  // namespace

std::unique_ptr<Scatter> make_read(Command command) {
  return std::make_unique<ReadScatter>(std::move(command));
}
std::unique_ptr<Scatter> make_wait(WaitRequest wait, Answer so_far) {
  return std::make_unique<WaitScatter>(std::move(wait), std::move(so_far));
}

}  // namespace eventq
