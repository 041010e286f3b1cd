// one_answer.h: a sink with which one thread waits for one answer.
#pragma once

#include <future>
#include <utility>
#include <vector>

#include "command/envelope.h"

namespace eventq {

class OneAnswer final : public AnswerSink {
 public:
  void deliver(std::vector<Envelope<Answer>> answers) override {
    promise_.set_value(std::move(answers.front().content));
  }
  Answer wait() { return promise_.get_future().get(); }

 private:
  std::promise<Answer> promise_;
};

}  // namespace eventq
