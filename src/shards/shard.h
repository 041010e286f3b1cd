// shard.h: one database of several that make up a queue, as the router sees it.
//
// The folder shards holds what makes one queue of several databases: the router and the shards themselves,
// placement (which shard an event belongs to), scatter (one call split over shards), merge (one answer from
// several). It holds no rules about events: those are in model and core, which every shard runs for itself.
// A call enters at Router::submit(), becomes a Scatter, and reaches Shard::submit() or Shard::read() as one
// or several commands; the answers come back to Router::deliver().
//
// Threads: every method may be called from any thread, start() and stop() once and not at the same time.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "command/envelope.h"
#include "eventq/options.h"

namespace eventq {

// A change in a shard that may wake a caller, made by this process or reported by another server's hint.
struct ShardActivity {
  std::set<std::string> ready;  // queues that may have more for claims than before
  bool all_ready = false;       // any queue may
  std::vector<EventId> ended;   // events that ended
  bool any_ended = false;       // any event may have
};

// Called on the shard's threads; must not block or call back.
class ShardObserver {
 public:
  virtual ~ShardObserver() = default;
  virtual void on_activity(int shard, const ShardActivity& activity) = 0;
  virtual void on_health(int shard, bool up) = 0;
};

class Shard {
 public:
  virtual ~Shard() = default;  // stops

  // Starts the threads. `shard` is the index that the observer is called with.
  virtual void start(ShardObserver& observer, int shard) = 0;

  // Names the database in messages for people.
  [[nodiscard]] virtual std::string name() const = 0;

  // A command goes to one of the commit threads, a read to any of the read threads.
  // REQUIRES: the command neither waits nor has a window; the router does both.
  [[nodiscard]] virtual std::size_t commit_threads() const = 0;
  virtual void submit(std::size_t commit_thread, Envelope<Command> request) = 0;
  virtual void read(Envelope<Command> request) = 0;

  // Says whether the router waits for answers: while it does, an outage must be noticed soon. Called whenever
  // the number of outstanding commands changes.
  virtual void expect_answers(bool any) = 0;

  // Makes the threads read the clock again; for tests that move it.
  virtual void recheck_clock() = 0;

  // Finishes the commands that were submitted, unless the database does not answer; later ones are refused.
  virtual void stop() = 0;
};

}  // namespace eventq
