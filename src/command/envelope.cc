// envelope.cc: see envelope.h.
#include "command/envelope.h"

#include <map>
#include <utility>

namespace eventq {

void deliver(std::vector<Envelope<Answer>> answers) {
  std::map<AnswerSink*, std::vector<Envelope<Answer>>> by_sink;
  for (Envelope<Answer>& answer : answers) by_sink[answer.reply_to.sink].push_back(std::move(answer));
  for (auto& [sink, its_answers] : by_sink) sink->deliver(std::move(its_answers));
}

void refuse_closed(const ReplyTo& reply_to) {
  const Error closed{ErrorCode::unavailable, "The queue is closed; nothing was changed.", ""};
  deliver({{reply_to, Answer{.error = closed}}});
}

}  // namespace eventq
