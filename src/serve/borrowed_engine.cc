// borrowed_engine.cc: see borrowed_engine.h.
#include "serve/borrowed_engine.h"

#include <utility>

namespace eventq {

void BorrowedEngine::submit(Command command, AnswerSink& sink, std::uint64_t token) {
  const ReplyTo reply_to{&sink, token};
  std::unique_lock lock(mutex_);
  if (stopped_) {
    lock.unlock();
    refuse_closed(reply_to);
    return;
  }
  if (ends_waits_) command.stop_waiting();
  Outstanding outstanding = split(command);
  outstanding.reply_to = reply_to;
  const std::uint64_t own_token = next_token_++;
  if (outstanding.waits) waiting_.emplace(reply_to, own_token);
  const bool may_wait = outstanding.waits && !outstanding.then_wait;
  outstanding_.emplace(own_token, std::move(outstanding));
  lock.unlock();
  engine_.submit(std::move(command), *this, own_token);
  if (may_wait) cancel_if_ended(own_token);
}

void BorrowedEngine::cancel_if_ended(std::uint64_t own_token) {
  {
    const std::scoped_lock lock(mutex_);
    if (outstanding_.contains(own_token)) return;
  }
  engine_.cancel_wait(*this, own_token);
}

// Takes the wait out of a command that also does something else.
BorrowedEngine::Outstanding BorrowedEngine::split(Command& command) {
  const bool claims = command.claim && command.claim->wait > Millis(0);
  const bool awaits = command.wait && command.wait->timeout > Millis(0);
  Outstanding outstanding;
  outstanding.waits = claims || awaits;
  outstanding.awaits_end = awaits;
  if (!outstanding.waits || (command.changes.empty() && !command.publication)) return outstanding;
  Command& then = outstanding.then_wait.emplace();
  if (claims) then.claim = command.claim;
  if (awaits) then.wait = std::exchange(command.wait, std::nullopt);
  command.stop_waiting();
  return outstanding;
}

std::optional<Command> BorrowedEngine::take_answer(Outstanding& outstanding, Answer& answer) {
  if (outstanding.so_far) {
    // The first command is committed. An error of the wait must not hide that, so the wait found nothing
    // then.
    Answer whole = std::move(*outstanding.so_far);
    whole.claims = std::move(answer.claims);
    whole.waited = answer.waited;
    answer = std::move(whole);
    return std::nullopt;
  }
  if (!outstanding.then_wait || answer.error || !answer.claims.empty()) return std::nullopt;
  Command next = std::move(*std::exchange(outstanding.then_wait, std::nullopt));
  if (next.wait) {
    // The wait is for the event that the first command published.
    if (!answer.published || !*answer.published) return std::nullopt;
    next.wait->what = (*answer.published)->events.front().id;
  }
  outstanding.so_far = std::move(answer);
  return next;
}

void BorrowedEngine::deliver(std::vector<Envelope<Answer>> answers) {
  std::vector<std::pair<std::uint64_t, Command>> next;
  std::vector<Claim> dropped;
  {
    const std::scoped_lock lock(mutex_);
    std::vector<Envelope<Answer>> complete;
    for (Envelope<Answer>& each : answers) {
      const std::uint64_t token = each.reply_to.token;
      const auto found = outstanding_.find(token);
      if (found == outstanding_.end()) {  // cancelled, or the server has stopped
        for (Claim& claim : each.content.claims) dropped.push_back(std::move(claim));
        continue;
      }
      if (auto command = take_answer(found->second, each.content)) {
        next.emplace_back(token, std::move(*command));
        continue;
      }
      if (found->second.waits) waiting_.erase(found->second.reply_to);
      complete.push_back({found->second.reply_to, std::move(each.content)});
      outstanding_.erase(found);
    }
    eventq::deliver(std::move(complete));
  }
  // Without the mutex, because a stopped engine answers inside of submit().
  for (auto& [token, command] : next) {
    engine_.submit(std::move(command), *this, token);
    cancel_if_ended(token);
  }
  // No command has the token 0, so the answer is dropped.
  if (!dropped.empty()) engine_.submit(release_of(dropped), *this, 0);
}

void BorrowedEngine::cancel_wait(AnswerSink& sink, std::uint64_t token) {
  std::unique_lock lock(mutex_);
  const auto found = waiting_.find({&sink, token});
  if (found == waiting_.end()) return;
  const std::uint64_t own_token = found->second;
  waiting_.erase(found);
  outstanding_.erase(own_token);
  lock.unlock();
  engine_.cancel_wait(*this, own_token);
}

// What the caller of a wait that ends early gets: what there is, and an error when nothing else says that the
// awaited end has not come.
Answer BorrowedEngine::ended_wait(Outstanding& outstanding) {
  if (outstanding.so_far) return std::move(*outstanding.so_far);
  Answer answer;
  if (outstanding.awaits_end) {
    answer.error = Error{ErrorCode::unavailable, "The server is stopping; ask again after its restart.", ""};
  }
  return answer;
}

void BorrowedEngine::end_all_waits() {
  std::vector<std::uint64_t> ended;
  {
    const std::scoped_lock lock(mutex_);
    ends_waits_ = true;
    std::vector<Envelope<Answer>> answers;
    for (const auto& [reply_to, token] : std::exchange(waiting_, {})) {
      Outstanding& outstanding = outstanding_.at(token);
      outstanding.waits = false;
      // The answer to the first of two commands comes soon, and is then the whole answer.
      if (std::exchange(outstanding.then_wait, std::nullopt)) continue;
      answers.push_back({reply_to, ended_wait(outstanding)});
      outstanding_.erase(token);
      ended.push_back(token);
    }
    eventq::deliver(std::move(answers));
  }
  // An event that the engine claims meanwhile is released, because its token is unknown now.
  for (const std::uint64_t token : ended) engine_.cancel_wait(*this, token);
}

void BorrowedEngine::stop() {
  end_all_waits();
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  outstanding_.clear();
}

}  // namespace eventq
