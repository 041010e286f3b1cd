// engine.h: a running queue: its store, its core and the threads round them.
//
// Threads: every method may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "command/envelope.h"

namespace eventq {

class Engine {
 public:
  virtual ~Engine() = default;  // stops

  // Runs a validated command; its answer goes to the sink, exactly once. The sink must live until then.
  virtual void submit(Command command, AnswerSink& sink, std::uint64_t token) = 0;

  // Runs a command and waits for its answer.
  virtual Answer call(Command command) = 0;

  // The caller of a claim went away: it takes no events any more. An answer under way may still
  // be delivered.
  virtual void forget(AnswerSink& sink, std::uint64_t token) = 0;

  // Answers waiting claims with nothing, and later ones at once.
  virtual void dismiss_waiters() = 0;

  // Looks at the clock again; for tests that move it.
  virtual void poke() = 0;

  // Finishes what was submitted; what comes later is refused as `unavailable`. Safe twice, not from two
  // threads at once.
  virtual void stop() = 0;
};

}  // namespace eventq
