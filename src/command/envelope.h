// envelope.h: a command on its way to an engine, and its answer on the way back.
//
// Both travel with the same ReplyTo: the engine answers an Envelope<Command> with one Envelope<Answer>.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "command/command.h"

namespace eventq {

class AnswerSink;

// Where the answer to a command goes. The sink chooses the token, and finds its own command by it.
struct ReplyTo {
  AnswerSink* sink = nullptr;
  std::uint64_t token = 0;
  friend auto operator<=>(const ReplyTo&, const ReplyTo&) = default;  // NOLINT: clang-tidy 14 sees a 0
};

template <typename T>  // a Command or its Answer
struct Envelope {
  ReplyTo reply_to;
  T content;
};

// Receives answers.
//
// Threads: deliver() is called on the engine's threads, and after the engine's stop on the thread of
// submit().
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;

  // REQUIRES: must not block, because no other caller is answered meanwhile, and must not throw.
  virtual void deliver(std::vector<Envelope<Answer>> answers) = 0;
};

// Delivers each answer to its sink, with one call per sink.
void deliver(std::vector<Envelope<Answer>> answers);

// Answers `unavailable` to a command that was submitted after the engine's stop.
void refuse_closed(const ReplyTo& reply_to);

}  // namespace eventq
