// scatter.cc: see scatter.h. Chooses the scatter for a command; holds the simple ones.
#include "shards/scatter.h"

#include <utility>
#include <variant>

#include "shards/placement.h"

namespace eventq {
namespace {

// The whole command goes to one shard.
class OneShardScatter final : public Scatter {
 public:
  OneShardScatter(Command command, int shard) : command_(std::move(command)), shard_(shard) {}

  void start(Dispatch& dispatch) override { dispatch.send(shard_, std::move(command_)); }
  void take_answer(Dispatch& dispatch, int, Answer answer) override { dispatch.finish(std::move(answer)); }

 private:
  Command command_;
  const int shard_;
};

// Explains why an event does not run. The shard knows the event and its line, the router the claims that wait
// for it; the event must be read first to find those claims.
class WhyScatter final : public Scatter {
 public:
  WhyScatter(Command command, int shard) : command_(std::move(command)), shard_(shard) {}

  void start(Dispatch& dispatch) override {
    Command command;
    command.get = Command::Get{*command_.why, false};
    dispatch.send(shard_, std::move(command));
  }
  void take_answer(Dispatch& dispatch, int, Answer answer) override {
    if (answer.error || answer.explanation) return dispatch.finish(std::move(answer));
    if (*answer.details) command_.extra_demand = dispatch.asked((**answer.details).event);
    dispatch.send(shard_, std::move(command_));
  }

 private:
  Command command_;
  const int shard_;
};

// Succeeds if at least one shard can write.
class ProbeScatter final : public Scatter {
 public:
  void start(Dispatch& dispatch) override {
    outstanding_ = dispatch.shards();
    for (int shard = 0; shard < dispatch.shards(); ++shard) {
      Command command;
      command.probe = true;
      dispatch.send(shard, std::move(command));
    }
  }

  void take_answer(Dispatch& dispatch, int shard, Answer answer) override {
    outstanding_ -= 1;
    if (answer.error) {
      error_ = std::move(answer.error);
      missing_.push_back(shard);
    }
    if (outstanding_ > 0) return;
    Answer whole;
    if (static_cast<int>(missing_.size()) == dispatch.shards()) whole.error = std::move(error_);
    whole.missing = std::move(missing_);
    dispatch.finish(std::move(whole));
  }

 private:
  int outstanding_ = 0;
  std::optional<Error> error_;
  std::vector<int> missing_;
};

// An empty command: it is answered when every commit thread has done the commands that were sent before.
class NothingScatter final : public Scatter {
 public:
  void start(Dispatch& dispatch) override {
    for (int shard = 0; shard < dispatch.shards(); ++shard) outstanding_ += dispatch.commit_threads(shard);
    for (int shard = 0; shard < dispatch.shards(); ++shard) {
      for (std::size_t commit_thread = 0; commit_thread < dispatch.commit_threads(shard); ++commit_thread)
        dispatch.send(shard, {}, commit_thread);
    }
  }

  void take_answer(Dispatch& dispatch, int, Answer answer) override {
    if (answer.error) whole_.error = std::move(answer.error);
    outstanding_ -= 1;
    if (outstanding_ == 0) dispatch.finish(std::move(whole_));
  }

 private:
  std::size_t outstanding_ = 0;
  Answer whole_;
};

}  // namespace

std::unique_ptr<Scatter> make_scatter(Command command, int shards) {
  if (command.publication) return make_publish(std::move(command));
  if (!command.changes.empty() || command.claim) return make_next(std::move(command));
  if (auto* change = std::get_if<QueueChange>(&command.admin)) {
    return make_queue_change(std::move(*change), std::move(command.wait));
  }
  if (command.wait) return make_wait(std::move(*command.wait));
  if (command.probe) return std::make_unique<ProbeScatter>();
  if (command.why) {
    const int shard = shard_of(*command.why, shards);
    return std::make_unique<WhyScatter>(std::move(command), shard);
  }
  if (command.get) {
    const int shard = shard_of(command.get->id, shards);
    return std::make_unique<OneShardScatter>(std::move(command), shard);
  }
  if (auto* revival = std::get_if<Revival>(&command.admin)) return make_revival(std::move(*revival));
  if (auto* removal = std::get_if<Removal>(&command.admin)) {
    const int shard = removal->events.empty() ? 0 : shard_of(removal->events.front(), shards);
    return std::make_unique<OneShardScatter>(std::move(command), shard);
  }
  if (std::holds_alternative<std::monostate>(command.admin) && !command.list) {
    return std::make_unique<NothingScatter>();
  }
  return make_read(std::move(command));
}

}  // namespace eventq
