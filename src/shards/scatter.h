// scatter.h: one command split over the shards: which shard gets which sub-command, one after the other or at
// the same time, and how one answer is made of theirs.
//
// A scatter sends sub-commands by a Dispatch, is given the answer to each once, and ends by the Dispatch
// exactly once: with finish() or keep_waiting().
//
// Pure: no threads, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/command.h"

namespace eventq {

// What a scatter may ask of its router. The router implements it, and tests do.
class Dispatch {
 public:
  virtual ~Dispatch() = default;

  [[nodiscard]] virtual int shards() const = 0;
  [[nodiscard]] virtual bool is_up(int shard) const = 0;
  [[nodiscard]] virtual std::size_t commit_threads(int shard) const = 0;
  // The first so many commit threads are used while none of them is stalled.
  [[nodiscard]] virtual std::size_t usual_commit_threads(int shard) const = 0;
  // The error of a command that was not sent because its shard is unavailable: nothing was changed.
  [[nodiscard]] virtual Error unavailable_error(int shard) const = 0;

  // The shards that are up, in an order that rotates from call to call: for events that may go anywhere; and
  // for a claim, where shards that a hint named for the queue come first.
  virtual std::vector<int> rotation() = 0;
  virtual std::vector<int> claim_rotation(const std::string& queue) = 0;
  // A claim found nothing there, so claim_rotation() stops to prefer the shard.
  virtual void note_empty(int shard, const std::string& queue) = 0;
  // Whether a claim may go to the shard of its reports in the same command. False from time to time, so that
  // the other shards are asked too.
  virtual bool may_claim_with_reports() = 0;
  // Claims for the event that wait in the router, which no shard knows.
  [[nodiscard]] virtual Command::ExtraDemand asked(const Event& event) const = 0;
  // A new UUIDv7 each time, for correlation ids and for the logs of queues.
  virtual std::string next_id() = 0;

  // The answer for an unavailable shard is unavailable_error(). Without `commit_thread` the least loaded one
  // is used. take_answer() is never called from within send().
  virtual void send(int shard, Command command, std::optional<std::size_t> commit_thread) = 0;
  void send(int shard, Command command) { send(shard, std::move(command), std::nullopt); }

  // The end: the whole answer; or the answer so far, and that the call goes on waiting for events or an end.
  virtual void finish(Answer answer) = 0;
  virtual void keep_waiting(ClaimRequest claim, Answer so_far) = 0;
  virtual void keep_waiting(const WaitRequest& wait, Answer so_far) = 0;
};

class Scatter {
 public:
  virtual ~Scatter() = default;
  virtual void start(Dispatch& dispatch) = 0;
  virtual void take_answer(Dispatch& dispatch, int shard, Answer answer) = 0;
  // The caller has left: the scatter must claim nothing more for it, and not wait.
  virtual void forget() { forgotten_ = true; }

 protected:
  bool forgotten_ = false;
};

// Chooses the scatter for a command.
std::unique_ptr<Scatter> make_scatter(Command command, int shards);

// Makes a waiting claim again, on these shards in this order, without waiting. Sent to every commit thread,
// one after the other, it runs behind the commit under way in each, so it misses no event that one has
// locked.
enum class RetryIn : std::uint8_t { one_commit_thread, every_commit_thread };
std::unique_ptr<Scatter> make_claim_retry(ClaimRequest claim, std::vector<int> shards,
                                          RetryIn commit_threads = RetryIn::one_commit_thread);

// In scatter_publish.cc, scatter_next.cc, scatter_admin.cc and scatter_read.cc.
std::unique_ptr<Scatter> make_publish(Command command);
std::unique_ptr<Scatter> make_next(Command command);
std::unique_ptr<Scatter> make_queue_change(QueueChange change, std::optional<WaitRequest> wait);
std::unique_ptr<Scatter> make_revival(Revival revival);
std::unique_ptr<Scatter> make_read(Command command);
std::unique_ptr<Scatter> make_wait(WaitRequest wait, Answer so_far = {});

}  // namespace eventq
