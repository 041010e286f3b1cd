// metrics_calls.h: answers a MetricsRequest in two steps. The commit thread gives what the Core has in
// memory. The read thread then counts the events that no worker asks for, so that no commit waits for it.
//
// Threads: start() from any thread. Answers are delivered on the threads of the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "command/envelope.h"

namespace eventq {

class MetricsCalls final : private AnswerSink {
 public:
  using Submit = std::function<void(Envelope<Command>)>;
  MetricsCalls(Submit commit, Submit read) : commit_(std::move(commit)), read_(std::move(read)) {}

  // REQUIRES: the command is a MetricsRequest, and this object lives until the answer is delivered.
  void start(Envelope<Command> request);

 private:
  struct Call {
    ReplyTo caller;
    std::vector<AskedTags> asked = {};
    std::optional<Answer> measured = {};  // set: the second step runs
  };

  void deliver(std::vector<Envelope<Answer>> answers) override;
  void take_answer(std::uint64_t id, Answer answer);

  // Set in the constructor, never changed.
  const Submit commit_;
  const Submit read_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::map<std::uint64_t, Call> calls_;
  std::uint64_t next_call_ = 1;
};

// The second step, for any engine: the query to run, empty if the first answer needs none; and the first
// answer with the result of the query. A database that did not answer the query is named in `missing`.
[[nodiscard]] std::vector<AskedTags> left_to_count(const Answer& measured);
[[nodiscard]] Answer with_unattended(Answer measured, const std::vector<AskedTags>& asked,
                                     const Answer& counted);

}  // namespace eventq
