// metrics_calls.cc: see metrics_calls.h.
#include "engine/metrics_calls.h"

#include <algorithm>
#include <utility>

namespace eventq {

std::vector<AskedTags> left_to_count(const Answer& measured) {
  const auto* metrics = std::get_if<Metrics>(&measured.admin);
  return measured.error || metrics == nullptr ? std::vector<AskedTags>() : asked_tags(*metrics);
}

Answer with_unattended(Answer measured, const std::vector<AskedTags>& asked, const Answer& counted) {
  for (const int shard : counted.missing) {
    if (std::ranges::count(measured.missing, shard) == 0) measured.missing.push_back(shard);
  }
  std::ranges::sort(measured.missing);
  const auto* counts = std::get_if<Result<std::vector<std::int64_t>>>(&counted.admin);
  const Error* error = counted.error ? &*counted.error : nullptr;
  if (counts != nullptr && !*counts) error = &counts->error();
  // Metrics must answer also when all databases became unavailable after the first step.
  if (error != nullptr && error->code == ErrorCode::unavailable && !counted.missing.empty()) return measured;
  if (error != nullptr) {
    measured.error = *error;
    return measured;
  }
  set_unattended(std::get<Metrics>(measured.admin), asked, **counts);
  return measured;
}

void MetricsCalls::start(Envelope<Command> request) {
  std::unique_lock lock(mutex_);
  const std::uint64_t id = next_call_++;
  calls_.emplace(id, Call{request.reply_to});
  lock.unlock();
  commit_({{this, id}, std::move(request.content)});
}

void MetricsCalls::deliver(std::vector<Envelope<Answer>> answers) {
  for (Envelope<Answer>& answer : answers) take_answer(answer.reply_to.token, std::move(answer.content));
}

void MetricsCalls::take_answer(std::uint64_t id, Answer answer) {
  std::unique_lock lock(mutex_);
  Call& call = calls_.at(id);
  if (!call.measured) {
    call.asked = left_to_count(answer);
    if (!call.asked.empty()) {
      Command query{.admin = UnattendedQuery{call.asked}};
      call.measured = std::move(answer);
      lock.unlock();
      return read_({{this, id}, std::move(query)});
    }
  } else {
    answer = with_unattended(std::move(*call.measured), call.asked, answer);
  }
  const ReplyTo caller = call.caller;
  calls_.erase(id);
  lock.unlock();
  caller.sink->deliver({{caller, std::move(answer)}});
}

}  // namespace eventq
