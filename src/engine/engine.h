// engine.h: the interface of a running queue: it takes commands and delivers answers.
//
// The folder engine/ holds this interface and the threads around one store: CommitThread runs the Core,
// ReadThread answers reads beside it. The implementations are StoreEngine (queue/open.cc) on one file and
// Router (shards/) on PostgreSQL. What a command does is decided in core/ and model/.
//
// A command passes through like this: Engine::submit() sends a command that is_read() to the ReadThread and
// every other to the CommitThread. That puts it into a batch, calls Core::run(), and delivers the answers.
//
// Threads: every method may be called from any thread, unless it says otherwise.
#pragma once

#include <cstdint>
#include <utility>

#include "command/one_answer.h"

namespace eventq {

class Engine {
 public:
  virtual ~Engine() = default;  // stops

  // Runs a validated command. The sink gets exactly one answer with this token.
  // REQUIRES: the sink lives until then.
  virtual void submit(Command command, AnswerSink& sink, std::uint64_t token) = 0;

  // Runs a command and waits for its answer.
  virtual Answer call(Command command) {
    OneAnswer sink;
    submit(std::move(command), sink, 0);
    return sink.wait();
  }

  // The caller of a claim or wait left, so the engine must not lease an event to it any more. An answer that
  // is being delivered still arrives.
  virtual void cancel_wait(AnswerSink& sink, std::uint64_t token) = 0;

  // Answers waiting claims with no events, and later ones at once. For a server that shuts down.
  virtual void end_all_waits() = 0;

  // Reads the clock again, for tests that move it.
  virtual void recheck_clock() = 0;

  // Finishes the submitted commands; later ones are refused as `unavailable`. Safe twice, but not from two
  // threads at once.
  virtual void stop() = 0;
};

}  // namespace eventq
