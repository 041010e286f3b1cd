// mailbox.h: an AnswerSink that keeps answers until a test asks for them.
//
// Threads: every method may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "command/envelope.h"

namespace eventq {

class Mailbox final : public AnswerSink {
 public:
  void deliver(std::vector<Envelope<Answer>> answers) override {
    const std::scoped_lock lock(mutex_);
    ++calls_;
    for (Envelope<Answer>& answer : answers) {
      const bool first = answers_.emplace(answer.reply_to.token, std::move(answer.content)).second;
      EVENTQ_ASSERT(first);  // a command is answered once
    }
    arrived_.notify_all();
  }

  // The answer to the command of this token, once it is there.
  Answer wait(std::uint64_t token) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return answers_.contains(token); });
    return answers_.at(token);
  }

  [[nodiscard]] bool has(std::uint64_t token) const {
    const std::scoped_lock lock(mutex_);
    return answers_.contains(token);
  }
  [[nodiscard]] std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return answers_.size();
  }
  // How often deliver() was called.
  [[nodiscard]] int calls() const {
    const std::scoped_lock lock(mutex_);
    return calls_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::uint64_t, Answer> answers_;
  int calls_ = 0;
};

}  // namespace eventq
