// shard.h: one database of several that make up a queue, as the router sees it.
//
// Threads: every method may be called from any thread, start() and stop() once and not at the same time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/core.h"
#include "eventq/clock.h"
#include "eventq/options.h"

namespace eventq {

// What may have changed in a shard, seen by this process or told by another.
struct Hint {
  std::set<std::string> ready;  // queues that may have more for claims than before
  bool all = false;             // any queue may
  std::vector<EventId> ended;   // events that ended
  bool any_ended = false;       // any event may have
};

class Shard {
 public:
  // Called on the shard's threads; must not block or call back.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void on_hint(int place, const Hint& hint) = 0;
    virtual void on_health(int place, bool up) = 0;
  };

  virtual ~Shard() = default;  // stops

  // Begins to work as the shard `place` of those the watcher watches.
  virtual void start(Watcher& watcher, int place) = 0;

  // Which database it is, for people.
  [[nodiscard]] virtual std::string name() const = 0;

  // A command goes to one of its commit threads and neither waits nor has a window; a read to any of the read
  // threads.
  [[nodiscard]] virtual std::size_t commit_threads() const = 0;
  virtual void submit(std::size_t commit_thread, Envelope<Command> request) = 0;
  virtual void read(Envelope<Command> request) = 0;

  // Commands are under way, or not any more: an outage must be noticed soon. Called for each of them.
  virtual void care(bool anybody) = 0;

  // Looks at the clock again; for tests that move it.
  virtual void recheck_clock() = 0;

  // Finishes what was submitted, unless the database does not answer; what comes later is refused.
  virtual void stop() = 0;
};

}  // namespace eventq
