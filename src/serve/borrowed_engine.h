// borrowed_engine.h: the engine of a queue for a server that may stop before the engine does.
//
// This folder implements eventq/serve.h: serve.cc puts http/ on the engine of an EmbeddedQueue. The API
// itself is in http/, and `eventq serve` with its configuration in server/.
//
// A service of http/ requires that the engine stops first, because an answer may arrive at any time before.
// Here the engine continues. So the service submits its commands to a BorrowedEngine, which the queue keeps
// until its engine has stopped. After stop() it drops answers, and releases the events that they contain.
//
// A command that also reports or publishes is submitted without its wait. When the answer has come, a second
// command waits. So end_all_waits() can answer each waiting caller of this server without the engine, and the
// other callers of the engine wait on.
//
// Threads: as Engine. Sinks are called under a mutex, so none is called after stop() has returned.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/engine.h"

namespace eventq {

class BorrowedEngine final : public Engine, public AnswerSink {
 public:
  // REQUIRES: `engine` stops before this object is destroyed.
  explicit BorrowedEngine(Engine& engine) : engine_(engine) {}

  void submit(Command command, AnswerSink& sink, std::uint64_t token) override;
  void cancel_wait(AnswerSink& sink, std::uint64_t token) override;
  void end_all_waits() override;
  void recheck_clock() override { engine_.recheck_clock(); }
  // Does not stop the engine that was borrowed.
  void stop() override;

 private:
  // A command that the engine has not answered.
  struct Outstanding {
    ReplyTo reply_to;
    bool waits = false;                     // it has a claim or a wait that may take time
    bool awaits_end = false;                // it has a wait
    std::optional<Command> then_wait = {};  // to submit after the answer
    std::optional<Answer> so_far = {};      // the answer to the first of two commands
  };

  void deliver(std::vector<Envelope<Answer>> answers) override;
  [[nodiscard]] static Outstanding split(Command& command);
  // Returns the command to submit next; without one, the answer is complete.
  static std::optional<Command> take_answer(Outstanding& outstanding, Answer& answer);
  [[nodiscard]] static Answer ended_wait(Outstanding& outstanding);
  // Ends a wait that was cancelled before the engine had its command, when the engine could not end it.
  void cancel_if_ended(std::uint64_t own_token);

  // Set in the constructor, never changed.
  Engine& engine_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::uint64_t next_token_ = 1;
  std::map<std::uint64_t, Outstanding> outstanding_;
  std::map<ReplyTo, std::uint64_t> waiting_;  // the tokens of those that wait
  bool ends_waits_ = false;
  bool stopped_ = false;
};

}  // namespace eventq
