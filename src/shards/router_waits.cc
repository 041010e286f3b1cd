// router_waits.cc: the router's callers that wait for events or for an end, and what makes it retry their
// calls.
#include <algorithm>
#include <utility>

#include "eventq/limits.h"
#include "model/shard_of.h"
#include "shards/router.h"

namespace eventq {
namespace {

// Waiting calls are retried this often without a hint, because a hint can be lost with its connection.
constexpr std::chrono::seconds kCheckInterval{1};
// Hints that something ended come with every commit of every server; they cause a retry this often at most.
constexpr Millis kEndInterval{50};
// Queues whose last activity is remembered; past this many, all queues count as just named.
constexpr std::size_t kQueuesMax = 10'000;

}  // namespace

void Router::keep_waiting(std::uint64_t id, ClaimRequest claim, Answer so_far) {
  auto node = calls_.extract(id);
  const PendingCall& pending = node.mapped();
  by_reply_to_.erase(*pending.reply_to);
  for (const std::string& worker : pending.workers) retried_claims_.note_moved(worker);
  if (dismissing_ || pending.forgotten) return answer(*pending.reply_to, std::move(so_far));
  // An activity after the start of this call may concern a shard that the call had already asked. A claim
  // with a window has asked no shard yet, because only RetriedClaims may start it.
  const auto noted = last_ready_.find(claim.selector.queue);
  const std::uint64_t last = std::max(last_all_ready_, noted == last_ready_.end() ? 0 : noted->second);
  const bool retry = claim.window > 0 || last > pending.activity_at_start;
  const TimePoint deadline = clock_.now() + claim.wait;
  if (claim.wait < kCheckInterval) wake_thread();
  retried_claims_.add({*pending.reply_to, std::move(claim), deadline, std::move(so_far)}, retry);
}

void Router::keep_waiting(std::uint64_t id, const WaitRequest& wait, Answer so_far) {
  auto node = calls_.extract(id);
  const PendingCall& pending = node.mapped();
  by_reply_to_.erase(*pending.reply_to);
  if (dismissing_ || pending.forgotten) return answer(*pending.reply_to, std::move(so_far));
  const TimePoint deadline = clock_.now() + wait.timeout;
  retried_ends_.add(wait, {*pending.reply_to, "", deadline, std::move(so_far)},
                    last_end_ > pending.activity_at_start);
  if (wait.timeout < kCheckInterval) wake_thread();
}

void Router::cancel_wait(AnswerSink& sink, std::uint64_t token) {
  const ReplyTo reply_to{&sink, token};
  std::unique_lock lock(mutex_);
  retried_claims_.forget(reply_to);
  retried_ends_.forget(reply_to);
  const auto found = by_reply_to_.find(reply_to);
  if (found != by_reply_to_.end()) {
    PendingCall& pending = calls_.at(found->second);
    pending.forgotten = true;
    pending.scatter->forget();
  }
  perform(lock);
}

void Router::end_all_waits() {
  std::unique_lock lock(mutex_);
  dismiss();
  perform(lock);
}

void Router::dismiss() {
  dismissing_ = true;
  for (WaitingClaim& waiter : retried_claims_.take_all()) answer(waiter.reply_to, std::move(waiter.answer));
  answer_ends(retried_ends_.take_all(),
              Error{ErrorCode::unavailable, "The queue is closing; ask again after its restart.", ""});
}

void Router::on_activity(int shard, const ShardActivity& activity) {
  std::unique_lock lock(mutex_);
  ShardSlot& slot = slot_of(shard);
  activity_count_ += 1;
  if (last_ready_.size() > kQueuesMax) {
    last_ready_.clear();
    last_all_ready_ = activity_count_;
  }
  for (const std::string& queue : activity.ready) {
    last_ready_[queue] = activity_count_;
    if (slot.hinted.size() < kQueuesMax) slot.hinted.insert(queue);
    retried_claims_.note_ready(shard, queue);
  }
  if (activity.all_ready) {
    last_all_ready_ = activity_count_;
    retried_claims_.note_ready(shard);
  }
  // A hint of another server says that something ended, not what, so check_periodically() retries all ends.
  if (!activity.ended.empty() || activity.any_ended) last_end_ = activity_count_;
  retried_ends_.note(activity.ended);
  if (activity.any_ended && retried_ends_.size() > 0 && !std::exchange(ends_marked_, true)) wake_thread();
  perform(lock);
}

void Router::on_health(int shard, bool up) {
  std::unique_lock lock(mutex_);
  ShardSlot& slot = slot_of(shard);
  if (slot.up == up) return;
  slot.up = up;
  if (up) {
    // Hints were lost while the shard was unavailable, so everything that waits is retried.
    activity_count_ += 1;
    last_all_ready_ = last_end_ = activity_count_;
    retried_claims_.note_ready(shard);
    retried_ends_.note_all();
  } else {
    fail_sub_commands(shard);
    answer_ends(retried_ends_.take_of(shard, shards()), unavailable_error(shard));
    if (all_down()) {
      for (WaitingClaim& waiter : retried_claims_.take_all()) {
        if (waiter.answer.changed.empty()) waiter.answer.error = unavailable_error(shard);
        answer(waiter.reply_to, std::move(waiter.answer));
      }
    }
  }
  perform(lock);
}

// Starts a call for every waiting claim and end that a hint marked.
void Router::start_retries() {
  while (auto retry = retried_claims_.next_retry()) {
    PendingCall pending{.scatter = make_claim_retry(retry->claim.request, retry->shards)};
    by_reply_to_[retry->claim.reply_to] = next_call_;
    pending.retry = std::move(*retry);
    start_call(std::move(pending));
  }
  while (auto end = retried_ends_.next_retry()) {
    PendingCall pending{.scatter = make_scatter({.wait = *end}, shards()), .end_retry = *end};
    start_call(std::move(pending));
  }
}

void Router::finish_retry(ClaimRetry retry, bool forgotten, Answer answer) {
  by_reply_to_.erase(retry.claim.reply_to);
  if (!answer.claims.empty()) {
    retried_claims_.found(retry, shard_of(answer.claims.front().event.id, shards()));
    if (forgotten) return release_claims(answer.claims);
    retry.claim.answer.claims = std::move(answer.claims);
    return this->answer(retry.claim.reply_to, std::move(retry.claim.answer));
  }
  // The claim is in the list again before answer_expired(), which ends it if its deadline has passed.
  const ReplyTo reply_to = retry.claim.reply_to;
  const Millis left = retry.claim.deadline - clock_.now();
  Answer last = retry.claim.answer;
  retried_claims_.found_nothing(std::move(retry));
  if (left < kCheckInterval) wake_thread();  // it did not see this deadline during the retry
  if (!forgotten && !dismissing_ && !all_down()) return answer_expired();
  retried_claims_.forget(reply_to);
  if (forgotten) return;
  if (!dismissing_ && last.changed.empty()) last.error = unavailable_error(0);
  this->answer(reply_to, std::move(last));
}

void Router::finish_last_retry(WaitingClaim waiter, bool forgotten, Answer answer) {
  by_reply_to_.erase(waiter.reply_to);
  if (forgotten) return release_claims(answer.claims);
  waiter.answer.claims = std::move(answer.claims);
  this->answer(waiter.reply_to, std::move(waiter.answer));
}

void Router::finish_end_retry(const WaitRequest& request, const Answer& answer) {
  // An event that retention has removed had ended before.
  const bool gone = answer.error && answer.error->code == ErrorCode::not_found;
  if (!answer.waited && !gone) return retried_ends_.not_ended(request);
  answer_ends(retried_ends_.ended(request), std::nullopt);
}

// Without an error, the event, correlation or drain that these callers wait for has ended. With an error, a
// caller that also published gets its publication instead, because that is committed.
void Router::answer_ends(std::vector<WaitingEnd> waits, const std::optional<Error>& error) {
  for (WaitingEnd& wait : waits) {
    wait.answer.waited = !error;
    if (error && !wait.answer.published) wait.answer.error = error;
    answer(wait.reply_to, std::move(wait.answer));
  }
}

Millis Router::wait_time() const {
  Millis pause = kCheckInterval;
  if (ends_marked_) {
    const auto left = std::chrono::ceil<Millis>(next_end_retry_ - steady_now());
    pause = std::clamp(left, Millis(0), kEndInterval);
  }
  for (const auto& deadline : {retried_claims_.next_deadline(), retried_ends_.next_deadline()}) {
    if (deadline) pause = std::clamp(*deadline - clock_.now(), Millis(0), pause);
  }
  return pause;
}

void Router::answer_expired() {
  const TimePoint now = clock_.now();
  for (WaitingClaim& waiter : retried_claims_.take_expired(now)) retry_last(std::move(waiter));
  for (WaitingEnd& wait : retried_ends_.take_expired(now)) answer(wait.reply_to, std::move(wait.answer));
}

// An event that became due at the claim's deadline may have caused no hint yet, so the claim is tried once
// more, in every commit thread. A claim with a window is not: its stream asks again at once, and its worker's
// claims must run one after the other, which only RetriedClaims ensures.
void Router::retry_last(WaitingClaim waiter) {
  std::vector<int> shards = rotated(next_claim_shard_++);
  if (waiter.request.window > 0 || shards.empty()) return answer(waiter.reply_to, std::move(waiter.answer));
  PendingCall pending{.scatter =
                          make_claim_retry(waiter.request, std::move(shards), RetryIn::every_commit_thread)};
  by_reply_to_[waiter.reply_to] = next_call_;
  pending.last_retry = std::move(waiter);
  start_call(std::move(pending));
}

void Router::note_asked(const ClaimRequest& claim) {
  const TimePoint now = clock_.now();
  polls_.note(claim.selector, now);
  if (asks_.note(claim.worker_id, claim.selector, now) == Asks::ToStore::at_once) store_asks(now);
}

// A worker whose claim waits asks for events all the time, until it signs off.
void Router::note_waiting(TimePoint now) {
  if (now < next_note_waiting_) return;
  next_note_waiting_ = now + options_.stale_after / 3;
  retried_claims_.each([&](const ClaimRequest& claim) {
    if (asks_.contains(claim.worker_id)) asks_.note(claim.worker_id, claim.selector, now);
  });
  asks_.drop(now - limits::kWorkerIdle);  // last, so that no worker whose claim waits is forgotten
}

// Stores requests in one of the databases, which all servers read. The answer is ignored, as in
// release_claims(): a request that is not stored is stored after the next one.
void Router::store_asks(TimePoint now) {
  NoteAsks note;
  for (WorkerAsk& ask : asks_.to_store()) {
    note.asks.push_back({std::move(ask.worker_id), std::move(ask.selector), now - ask.asked_at});
  }
  const auto slot = std::ranges::find_if(slots_, &ShardSlot::up);
  if (note.asks.empty() || slot == slots_.end() || closed_) return;
  asks_.note_stored();
  out_.submissions.push_back({slot->shard.get(), choose_thread(*slot).commit_thread,
                              Envelope<Command>{{this, 0}, {.admin = std::move(note)}}});
}

// Does what needs no hint: retries all waiting calls, and answers for shards that do not.
void Router::check_periodically(SteadyTime now) {
  if (ends_marked_ && now >= next_end_retry_) {
    ends_marked_ = false;
    next_end_retry_ = now + kEndInterval;
    retried_ends_.note_all();
  }
  if (now < next_check_) return;
  next_check_ = now + kCheckInterval;
  answer_timed_out(now);
  note_waiting(clock_.now());
  store_asks(clock_.now());
  retried_claims_.note_all();
  retried_ends_.note_all();
}

}  // namespace eventq
