// claims.cc: the Core's claims: due events become ready, waiting and new claims lease them, and a worker's
// window limits how many events it holds.
#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "core/batch.h"
#include "eventq/limits.h"
#include "model/cause.h"

namespace eventq {
namespace {

// Events that one transaction makes ready, so that a million that come due at once do not delay other
// commands. The next transactions promote the rest.
constexpr std::size_t kPromoteMax = 5000;

double seconds(Millis time) { return std::chrono::duration<double>(std::max(time, Millis(0))).count(); }

}  // namespace

// Moves events that came due into the ready index, and fails those that are out of attempts.
Result<void> Core::promote(Batch& batch) {
  const TimePoint now = batch.now();
  if (!has_due(now)) return {};
  auto promoted = batch.transaction->promote(kPromoteMax);
  if (!promoted) return promoted.error();
  std::vector<LogEntry> entries;
  std::vector<Stored> given_up;
  for (Stored& stored : *promoted) {
    const Event& event = stored.event;
    // The lease has expired, so the event no longer counts in its worker's window.
    if (!shared_ && event.status == Status::processing) batch.held[{event.worker_id, event.queue}] -= 1;
    if (!out_of_attempts(stored.event, state_of(batch, stored.event.queue).policy)) {
      batch.note_ready(stored);
      continue;
    }
    for (LogEntry& entry : give_up(batch, stored)) entries.push_back(std::move(entry));
    given_up.push_back(std::move(stored));
  }
  if (given_up.empty()) return {};
  if (auto done = save(batch, given_up); !done) return done;
  if (auto done = batch.transaction->append(entries); !done) return done;
  return update_line_heads(batch);
}

// Fails an event that is out of attempts, and counts it.
std::vector<LogEntry> Core::give_up(Batch& batch, Stored& stored) {
  std::vector<LogEntry> entries = eventq::give_up(stored.event, batch.now());
  stored.cause = cause_of(entries.back());
  QueueDelta& delta = batch.queues[stored.event.queue];
  delta.totals.abandoned += 1;
  delta.totals.failed += 1;
  delta.totals.failed_for_good += 1;
  batch.actions.push_back({WorkerActionKind::lost, stored.event.worker_id, stored.event.id});
  return entries;
}

Result<void> Core::serve_claims(Batch& batch, std::vector<Envelope<Command>>& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Command& command = requests[i].content;
    if (!command.claim) continue;
    polls_.note(command.claim->selector, batch.now());
    auto claims = claim(batch, *command.claim);
    if (!claims) return claims.error();
    batch.answers[i].claims = std::move(*claims);
  }
  return {};
}

// Leases matching events until the limit is reached or the store has no more. The store is asked again when
// some of its events were not due or out of attempts, because others may be behind them.
Result<std::vector<Claim>> Core::claim(Batch& batch, const ClaimRequest& request) {
  std::vector<Claim> claims;
  const QueueState* state = find_state(batch, request.selector.queue);
  if (state == nullptr || state->row.status == QueueStatus::paused) return claims;
  const std::size_t limit = std::min({request.limit, state->policy.claim_max, window_left(batch, request)});
  std::size_t bytes = 0;
  while (claims.size() < limit && bytes < kClaimBytes) {
    auto found = batch.transaction->claim(request.selector, limit - claims.size());
    if (!found) return found.error();
    if (found->empty()) {
      batch.claim_found_nothing = true;
      break;
    }
    // An event can be in the ready index and not due, if a transaction with a later clock put it there.
    // save() takes it out again.
    const auto early = std::stable_partition(found->begin(), found->end(), [&](const Stored& stored) {
      return is_due(stored.event, batch.now());
    });
    const std::span<Stored> due(found->begin(), early);
    std::vector<LogEntry> entries;
    for (Stored& stored : due) {
      std::vector<LogEntry> written = take(batch, stored, request.worker_id);
      std::move(written.begin(), written.end(), std::back_inserter(entries));
    }
    if (auto done = save(batch, *found); !done) return done.error();
    if (auto done = batch.transaction->append(entries); !done) return done.error();
    for (Stored& stored : due) {
      batch.gone.insert(stored.event.id);
      if (stored.archived) continue;  // take() failed it, so save() moved it to the archive
      bytes += stored.event.payload.size();
      const TimePoint lease_until = stored.event.due_at;
      claims.push_back({std::move(stored.event), lease_until});
    }
  }
  return claims;
}

// Leases one due event to the worker, and counts the claim. An event that is out of attempts gets here only
// after a restart with a lower max_attempts, because promote() fails the others.
std::vector<LogEntry> Core::take(Batch& batch, Stored& stored, const std::string& worker_id) {
  Event& event = stored.event;
  const Policy& policy = state_of(batch, event.queue).policy;
  if (out_of_attempts(event, policy)) return give_up(batch, stored);
  QueueDelta& delta = batch.queues[event.queue];
  delta.totals.claimed += 1;
  delta.waits.push_back(seconds(batch.now() - event.due_at));
  if (event.status == Status::processing) {
    delta.totals.abandoned += 1;
    batch.actions.push_back({WorkerActionKind::lost, event.worker_id, event.id});
  }
  batch.actions.push_back({WorkerActionKind::claimed, worker_id, event.id});
  return eventq::claim(event, worker_id, batch.now(), policy);
}

// Serves waiting claims with the events that became ready. Events are offered in claim order, so the first
// waiter that matches gets the best event for it: a better one would have been offered before.
Result<void> Core::wake(Batch& batch) {
  std::sort(batch.ready.begin(), batch.ready.end(), [](const ReadyEvent& a, const ReadyEvent& b) {
    return std::tuple(-a.priority, a.turn) < std::tuple(-b.priority, b.turn);
  });
  for (const ReadyEvent& ready : batch.ready) {
    if (batch.gone.contains(ready.id)) continue;
    if (state_of(batch, ready.queue).row.status == QueueStatus::paused) continue;
    // A waiter whose window is full is held back, and the event is offered to the next waiter.
    for (bool offered = true; offered;) {
      auto first = waiters_.take_first(ready.queue, ready.tags);
      if (!first) break;
      auto held_back = serve(batch, first->first, std::move(first->second));
      if (!held_back) return held_back.error();
      offered = *held_back;
    }
  }
  if (auto done = wake_resumed(batch); !done) return done;
  return wake_held_back(batch);
}

// Serves all waiters of the queues in resumed_, in the order of their arrival.
Result<void> Core::wake_resumed(Batch& batch) {
  for (const std::string& queue : resumed_) {
    for (const WaitingClaims::Position position : waiters_.positions(queue)) {
      auto served = serve(batch, position, waiters_.take(position));
      if (!served) return served.error();
    }
  }
  return {};
}

// Serves a waiter that was taken out of the list, or puts it back. Returns true if its full window held it
// back, so that the event is still there for another waiter.
Result<bool> Core::serve(Batch& batch, WaitingClaims::Position position, WaitingClaim waiter) {
  auto claims = claim(batch, waiter.request);
  if (!claims || claims->empty()) {
    waiter.held_back = window_left(batch, waiter.request) == 0;
    const bool held_back = waiter.held_back;
    waiters_.put_back(position, std::move(waiter));
    if (!claims) return claims.error();
    return held_back;
  }
  batch.served.push_back({position, std::move(waiter), std::move(*claims)});
  return false;
}

// How many more events the worker may hold. limits::kClaim stands for any number.
std::size_t Core::window_left(const Batch& batch, const ClaimRequest& request) const {
  if (request.window == 0) return limits::kClaim;
  const Holder holder(request.worker_id, request.selector.queue);
  const auto count_in = [&](const std::map<Holder, std::int64_t>& counts) {
    const auto found = counts.find(holder);
    return found == counts.end() ? 0 : found->second;
  };
  const auto held = static_cast<std::size_t>(count_in(held_) + count_in(batch.held));
  return request.window > held ? request.window - held : 0;
}

// Serves held-back waiters of workers whose number of held events this batch changed.
Result<void> Core::wake_held_back(Batch& batch) {
  for (const auto& [holder, change] : batch.held) {
    for (const WaitingClaims::Position position : waiters_.held_back(holder)) {
      auto served = serve(batch, position, waiters_.take(position));
      if (!served) return served.error();
    }
  }
  return {};
}

void Core::settle_held(Batch& batch) {
  for (const auto& [holder, change] : std::exchange(batch.held, {})) {
    const auto found = held_.try_emplace(holder, 0).first;
    found->second += change;
    EVENTQ_ASSERT(found->second >= 0);
    if (found->second == 0) held_.erase(found);
  }
}

// After a rollback. A waiter may have been held back by a claim that was undone, so all of them try again in
// the next batch.
void Core::release_held_back() {
  for (const WaitingClaims::Position position : waiters_.held_back()) {
    WaitingClaim waiter = waiters_.take(position);
    waiter.held_back = false;
    resumed_.insert(waiter.request.selector.queue);
    waiters_.put_back(position, std::move(waiter));
  }
}

}  // namespace eventq
