// scatter.cc: see scatter.h. Chooses the scatter for a command; holds the simple ones.
#include "shards/scatter.h"

#include <utility>
#include <variant>

#include "model/shard_of.h"

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

  void start(Dispatch& dispatch) override { dispatch.send(shard_, {.get = *command_.why}); }
  void take_answer(Dispatch& dispatch, int, Answer answer) override {
    if (answer.error || answer.explanation) return dispatch.finish(std::move(answer));
    if (*answer.details) command_.extra_demand = dispatch.asked((**answer.details).event);
    dispatch.send(shard_, std::move(command_));
  }

 private:
  Command command_;
  const int shard_;
};

}  // namespace

// The first part that decides about shards chooses the scatter. Those of publications and changes of queues
// also handle the command's wait.
std::unique_ptr<Scatter> make_scatter(Command command, int shards) {
  if (command.publication) return make_publish(std::move(command));
  if (!command.changes.empty() || command.claim) return make_next(std::move(command));
  if (auto* change = std::get_if<QueueChange>(&command.admin)) {
    return make_queue_change(std::move(*change), std::move(command.wait));
  }
  if (command.wait) return make_wait(std::move(*command.wait));
  if (command.why) {
    const int shard = shard_of(*command.why, shards);
    return std::make_unique<WhyScatter>(std::move(command), shard);
  }
  if (command.get) {
    const int shard = shard_of(*command.get, shards);
    return std::make_unique<OneShardScatter>(std::move(command), shard);
  }
  if (auto* revival = std::get_if<Revival>(&command.admin)) return make_revival(std::move(*revival));
  if (auto* removal = std::get_if<Removal>(&command.admin)) {
    const int shard = removal->events.empty() ? 0 : shard_of(removal->events.front(), shards);
    return std::make_unique<OneShardScatter>(std::move(command), shard);
  }
  return make_read(std::move(command));
}

}  // namespace eventq
