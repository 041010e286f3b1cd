// scatter.h: one command on its way over the shards: which of them are asked what, one after the other or at
// the same time, and what their answers come to.
//
// Pure: no threads, no clock. An scatter sends commands by a Dispatch, is given each answer once, and
// finishes by the Dispatch, exactly once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/command.h"

namespace eventq {

class Dispatch {
 public:
  virtual ~Dispatch() = default;

  [[nodiscard]] virtual int shards() const = 0;
  [[nodiscard]] virtual bool is_up(int shard) const = 0;
  [[nodiscard]] virtual std::size_t commit_threads(int shard) const = 0;
  // How many of them, from the first on, are used while none of these is held up.
  [[nodiscard]] virtual std::size_t usual_commit_threads(int shard) const = 0;
  // What to say of a shard that is away: nothing was changed.
  [[nodiscard]] virtual Error away_error(int shard) const = 0;

  // The shards that are up, each first in its turn: for events that may go anywhere; and for a claim, where
  // those come first that are said to have events.
  virtual std::vector<int> rotation() = 0;
  virtual std::vector<int> claim_rotation(const std::string& queue) = 0;
  // A claim found nothing there.
  virtual void note_empty(int shard, const std::string& queue) = 0;
  // Whether a claim may go with the reports to their shard. Not always, so that no shard is forgotten.
  virtual bool may_claim_with_reports() = 0;
  // Who asks for the event, on whichever shard.
  [[nodiscard]] virtual Command::ExtraDemand asked(const Event& event) const = 0;
  // A new part of an id.
  virtual std::string next_id() = 0;

  // A shard that is away answers with away(). Without a commit thread, one that answers, and has the fewest
  // commands under way.
  virtual void send(int shard, Command command, std::optional<std::size_t> commit_thread) = 0;
  void send(int shard, Command command) { send(shard, std::move(command), std::nullopt); }

  // The end: the answer; or what was done, and that it waits for events or for an end.
  virtual void finish(Answer answer) = 0;
  virtual void keep_waiting(ClaimRequest claim, Answer so_far) = 0;
  virtual void keep_waiting(const WaitRequest& wait, Answer so_far) = 0;
};

class Scatter {
 public:
  virtual ~Scatter() = default;
  virtual void start(Dispatch& dispatch) = 0;
  virtual void take_answer(Dispatch& dispatch, int shard, Answer answer) = 0;
  // Whoever asked takes no events any more, and waits for nothing.
  virtual void forget() {}
};

// The scatter that a command is.
std::unique_ptr<Scatter> make_scatter(Command command, int shards);

// A look of one who waits for events: on these shards, in this order; in one commit thread of each, or in all
// of them one after the other: then nothing is missed because another commit thread is just at it.
enum class RetryIn : std::uint8_t { one_commit_thread, every_commit_thread };
std::unique_ptr<Scatter> make_claim_retry(ClaimRequest claim, std::vector<int> shards,
                                          RetryIn commit_threads = RetryIn::one_commit_thread);

// scatter_publish.cc, scatter_turn.cc, scatter_admin.cc, scatter_read.cc
std::unique_ptr<Scatter> make_publish(Command command);
std::unique_ptr<Scatter> make_next(Command command);
std::unique_ptr<Scatter> make_queue_change(QueueChange change, std::optional<WaitRequest> wait);
std::unique_ptr<Scatter> make_revival(Revival revival);
std::unique_ptr<Scatter> make_read(Command command);
std::unique_ptr<Scatter> make_wait(WaitRequest wait, Answer so_far = {});

}  // namespace eventq
