// one_answer.h: a sink for one answer and one waiting thread.
#pragma once

#include <future>
#include <utility>
#include <vector>

#include "command/command.h"

namespace eventq {

class OneAnswer final : public Sink {
 public:
  void deliver(std::vector<Delivery> deliveries) override {
    promise_.set_value(std::move(deliveries.front().answer));
  }
  Answer wait() { return promise_.get_future().get(); }

 private:
  std::promise<Answer> promise_;
};

}  // namespace eventq
