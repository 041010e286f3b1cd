// core.cc: see core.h.
#include "queue/core.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>
#include <unordered_set>

#include "base/assert.h"
#include "eventq/limits.h"

namespace eventq {
namespace {

// Events made ready by one transaction, so that a million that come due at once do not
// hold up everybody else; the rest follow in the next ones.
constexpr std::size_t kPromoteMax = 5000;
constexpr std::size_t kPurgeMax = 1000;
constexpr std::chrono::minutes kPurgeInterval{1};
// Tags whose last poll is remembered for why(); past this many they are all forgotten.
constexpr std::size_t kDemandMax = 10'000;

Error not_found(EventId id) {
  return {ErrorCode::not_found, "There is no event " + std::to_string(static_cast<std::int64_t>(id)) + ".",
          "id"};
}

// What a batch that was there already is known by.
std::string correlation_of(const std::vector<Event>& events) {
  return events.empty() ? "" : events.front().correlation_id;
}

// An event as its publisher was told of it.
Event as_published(Event event) {
  event.status = Status::pending;
  event.attempts = 0;
  event.retry_count = 0;
  event.unreported = 0;
  event.worker_id.clear();
  event.due_at = event.created_at;
  event.updated_at = event.created_at;
  return event;
}

}  // namespace

// An event that entered the ready index in this batch.
struct Core::Ready {
  EventId id{};
  std::string queue;
  std::vector<std::string> tags;
  int priority = 0;
};

// What one transaction is made of, until it is known to have been committed.
struct Core::Batch {
  struct Served {
    std::uint64_t place;
    Waiter waiter;
    std::vector<Claim> claims;
  };

  std::unique_ptr<Transaction> transaction;
  bool own_time = false;             // by a clock that others need not share
  std::vector<Answer> answers;       // one per request
  std::vector<std::size_t> waiting;  // requests whose claim found nothing and waits
  std::vector<Ready> ready;
  std::unordered_set<EventId> gone;  // of `ready`: claimed since, or no longer ready by a change
  std::vector<Served> served;
  std::optional<TimePoint> next_due;
  std::optional<TimePoint> next_purge;

  [[nodiscard]] TimePoint now() const { return transaction->now(); }
  void note_ready(const Event& event) {
    ready.push_back({event.id, event.queue, event.tags, event.priority});
    gone.erase(event.id);
  }
};

Core::Core(Store& store, const Policy& policy, Uuid7Source ids) : store_(store), policy_(policy), ids_(ids) {}

std::vector<Addressed> Core::run_once(std::optional<TimePoint> now) {
  std::vector<Request> maintenance(now ? 1 : 0);
  if (now) maintenance[0].command.now = now;
  std::vector<Addressed> answers = run(std::move(maintenance));
  std::erase_if(answers, [](const Addressed& answer) { return answer.origin.sink == nullptr; });
  return answers;
}

std::vector<Addressed> Core::run(std::vector<Request> requests) {
  Batch batch;
  batch.answers.resize(requests.size());
  // A command with its own time is alone in its batch.
  const auto own_time = requests.empty() ? std::nullopt : requests.front().command.now;
  EVENTQ_ASSERT(!own_time || requests.size() == 1);
  batch.own_time = own_time && requests.front().origin.sink != nullptr;  // run_once() has no sink

  auto transaction = store_.begin(own_time);
  if (!transaction) {
    std::vector<Addressed> answers = refuse(batch, requests, transaction.error());
    for (Waiter& waiter : waiters_.take_all()) {
      // What a turn reported was committed before it began to wait.
      if (waiter.answer.changed.empty()) waiter.answer.error = transaction.error();
      answers.push_back({waiter.origin, std::move(waiter.answer)});
    }
    return answers;
  }
  batch.transaction = std::move(*transaction);
  if (auto done = apply(batch, requests); !done) return refuse(batch, requests, done.error());
  if (auto done = batch.transaction->commit(); !done) return refuse(batch, requests, done.error());
  return settle(batch, requests);
}

Result<void> Core::apply(Batch& batch, std::vector<Request>& requests) {
  if (auto done = promote(batch); !done) return done;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].command.publication) continue;
    if (auto done = publish(batch, *requests[i].command.publication, batch.answers[i]); !done) return done;
  }
  if (auto done = change_all(batch, requests); !done) return done;
  if (auto done = wake(batch); !done) return done;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Command& command = requests[i].command;
    if (command.claim) {
      note_demand(*command.claim, batch.now());
      auto claims = claim(batch, *command.claim);
      if (!claims) return claims.error();
      if (claims->empty() && command.claim->wait > Millis(0)) batch.waiting.push_back(i);
      batch.answers[i].claims = std::move(*claims);
    }
    if (command.probe) {
      if (auto done = batch.transaction->probe(); !done) return done;
    }
    if (command.why) {
      if (auto done = explain(batch, *command.why, batch.answers[i]); !done) return done;
    }
  }
  auto next_due = batch.transaction->next_due();
  if (!next_due) return next_due.error();
  batch.next_due = *next_due;
  return {};
}

// Moves what came due into the ready index, and gives up on what was claimed too often.
Result<void> Core::promote(Batch& batch) {
  const TimePoint now = batch.now();
  if (!batch.own_time && now >= next_purge_) {
    const auto purged = batch.transaction->purge_keys(now - limits::kIdempotencyKeyAge, kPurgeMax);
    if (!purged) return purged.error();
    // With more of them to go, the next transaction goes on.
    batch.next_purge = *purged < kPurgeMax ? now + kPurgeInterval : now;
  }
  if (!next_due_ || *next_due_ > now) return {};
  auto promoted = batch.transaction->promote(kPromoteMax);
  if (!promoted) return promoted.error();
  std::vector<LogEntry> entries;
  std::vector<Stored> given_up;
  for (Stored& stored : *promoted) {
    if (!out_of_attempts(stored.event, policy_)) {
      batch.note_ready(stored.event);
      continue;
    }
    for (LogEntry& entry : give_up(stored.event, now)) entries.push_back(std::move(entry));
    given_up.push_back(std::move(stored));
  }
  if (given_up.empty()) return {};
  if (auto done = batch.transaction->save(given_up); !done) return done;
  return batch.transaction->append(entries);
}

Result<void> Core::publish(Batch& batch, Publication& publication, Answer& answer) {
  auto replayed = replay(batch, publication);
  if (!replayed) return replayed.error();
  if (*replayed) {
    answer.published = std::move(**replayed);
    return {};
  }
  Published published;
  if (auto done = admit_all(batch, publication, published); !done) return done;
  if (publication.key) {
    KeyRecord record{publication.key->key, publication.key->fingerprint, {}, batch.now()};
    for (const Event& event : published.events) record.events.push_back(event.id);
    if (auto done = batch.transaction->put_key(record); !done) return done;
  }
  answer.published = std::move(published);
  return {};
}

// The answer to a request whose key is known already; nothing when it is new.
Result<std::optional<Result<Published>>> Core::replay(Batch& batch, const Publication& publication) {
  using Found = std::optional<Result<Published>>;
  if (!publication.key) return Found();
  auto record = batch.transaction->find_key(publication.key->key);
  if (!record) return record.error();
  if (!*record || (*record)->created_at + limits::kIdempotencyKeyAge <= batch.now()) return Found();
  if ((*record)->fingerprint != publication.key->fingerprint) {
    return Found(
        Error{ErrorCode::conflict,
              "The Idempotency-Key \"" + publication.key->key +
                  "\" was used for another request within the last 24 hours. Use a new key for a new "
                  "event.",
              "Idempotency-Key"});
  }
  auto loaded = batch.transaction->load((*record)->events, Transaction::Part::whole);
  if (!loaded) return loaded.error();
  Published published{.correlation_id = publication.events.front().correlation_id, .replayed = true};
  for (std::optional<Stored>& stored : *loaded) {
    if (!stored) continue;
    // What was there before the key was used is shown as it is, then and now.
    const bool existed = stored->event.created_at != (*record)->created_at;
    published.existed = existed && loaded->size() == 1;
    if (!existed && publication.correlated) published.correlation_id = stored->event.correlation_id;
    published.events.push_back(existed ? std::move(stored->event) : as_published(std::move(stored->event)));
  }
  if (publication.correlated && published.correlation_id.empty()) {
    published.correlation_id = correlation_of(published.events);
  }
  return Found(std::move(published));
}

Result<void> Core::admit_all(Batch& batch, Publication& publication, Published& published) {
  const TimePoint now = batch.now();
  const std::string own = publication.events.front().correlation_id;
  if (publication.correlated) published.correlation_id = own.empty() ? "corr_" + ids_.next(now) : own;
  bool any_new = false;
  for (NewEvent& event : publication.events) {
    if (!event.event_id.empty()) {
      auto existing = batch.transaction->find(event.event_id);
      if (!existing) return existing.error();
      if (*existing) {
        auto loaded = batch.transaction->load({{**existing}}, Transaction::Part::whole);
        if (!loaded) return loaded.error();
        published.events.push_back(std::move(loaded->front()->event));
        published.existed = publication.events.size() == 1;
        continue;
      }
    }
    if (publication.correlated) event.correlation_id = published.correlation_id;
    std::string event_id = event.event_id.empty() ? "evt_" + ids_.next(now) : std::move(event.event_id);
    Stored stored{.event = admit(std::move(event), std::move(event_id), now, policy_)};
    if (auto done = batch.transaction->insert({&stored, 1}); !done) return done;
    if (stored.ready) batch.note_ready(stored.event);
    published.events.push_back(std::move(stored.event));
    any_new = true;
  }
  if (publication.correlated && own.empty() && !any_new) {
    published.correlation_id = correlation_of(published.events);
  }
  return {};
}

// Decides every change of the batch in order, on events loaded once.
Result<void> Core::change_all(Batch& batch, std::vector<Request>& requests) {
  std::vector<EventId> ids;
  std::unordered_map<EventId, std::size_t> index;
  for (const Request& request : requests) {
    for (const Change& change : request.command.changes) {
      const EventId id = change.lease.event_id;
      if (index.emplace(id, ids.size()).second) ids.push_back(id);
    }
  }
  if (ids.empty()) return {};
  auto loaded = batch.transaction->load(ids, Transaction::Part::head);
  if (!loaded) return loaded.error();

  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (const Change& change_ : requests[i].command.changes) {
      std::optional<Stored>& stored = (*loaded)[index.at(change_.lease.event_id)];
      if (!stored) {
        batch.answers[i].changed.emplace_back(not_found(change_.lease.event_id));
      } else if (auto done = change(batch, *stored, change_, batch.answers[i]); !done) {
        return done;
      }
    }
  }
  return {};
}

Result<void> Core::change(Batch& batch, Stored& stored, const Change& change, Answer& answer) {
  std::vector<LogEntry> log;
  if (needs_log(stored.event, change)) {
    auto found = batch.transaction->log(stored.event.id);
    if (!found) return found.error();
    log = std::move(*found);
  }
  auto decision = decide(stored.event, change, log, batch.now(), policy_);
  if (!decision) {
    answer.changed.emplace_back(decision.error());
    return {};
  }
  if (decision->effect != Decision::Effect::repeated) {
    const bool was_ready = stored.ready;
    if (auto done = batch.transaction->save({&stored, 1}); !done) return done;
    if (stored.ready && !was_ready) batch.note_ready(stored.event);
    if (!stored.ready && was_ready) batch.gone.insert(stored.event.id);
  }
  if (decision->effect == Decision::Effect::recorded) {
    if (auto done = batch.transaction->append({&decision->entry, 1}); !done) return done;
  }
  answer.changed.emplace_back(
      Changed{std::move(decision->entry), decision->status, stored.event.max_retries, stored.event.due_at});
  return {};
}

// Gives what became ready to those who wait for it. In claim order, an event is the best there is
// for whoever came first for it: a better one would have been his already.
Result<void> Core::wake(Batch& batch) {
  std::sort(batch.ready.begin(), batch.ready.end(), [](const Ready& a, const Ready& b) {
    return std::tuple(-a.priority, a.id) < std::tuple(-b.priority, b.id);
  });
  for (const Ready& ready : batch.ready) {
    if (batch.gone.contains(ready.id)) continue;
    auto first = waiters_.take_first(ready.queue, ready.tags);
    if (!first) continue;
    auto claims = claim(batch, first->second.request);
    if (!claims || claims->empty()) {
      waiters_.put_back(first->first, std::move(first->second));
      if (!claims) return claims.error();
      continue;
    }
    batch.served.push_back({first->first, std::move(first->second), std::move(*claims)});
  }
  return {};
}

Result<std::vector<Claim>> Core::claim(Batch& batch, const ClaimRequest& request) {
  std::vector<Claim> claims;
  std::size_t bytes = 0;
  while (claims.size() < request.limit && bytes < kClaimBytes) {
    auto found = batch.transaction->claim(request.selector, request.limit - claims.size());
    if (!found) return found.error();
    if (found->empty()) break;
    // Made ready by a later clock than this one: save() lets those wait again.
    const auto early = std::stable_partition(found->begin(), found->end(), [&](const Stored& stored) {
      return is_due(stored.event, batch.now());
    });
    const std::span<Stored> due(found->begin(), early);
    std::vector<LogEntry> entries;
    for (Stored& stored : due) {
      // Given up here only after a restart with a lower max_attempts; promote() does the others.
      std::vector<LogEntry> written =
          out_of_attempts(stored.event, policy_)
              ? give_up(stored.event, batch.now())
              : eventq::claim(stored.event, request.worker_id, batch.now(), policy_);
      std::move(written.begin(), written.end(), std::back_inserter(entries));
    }
    if (auto done = batch.transaction->save(*found); !done) return done.error();
    if (auto done = batch.transaction->append(entries); !done) return done.error();
    for (Stored& stored : due) {
      batch.gone.insert(stored.event.id);
      if (stored.archived) continue;
      bytes += stored.event.payload.size();
      const TimePoint lease_until = stored.event.due_at;
      claims.push_back({std::move(stored.event), lease_until});
    }
  }
  return claims;
}

Result<void> Core::explain(Batch& batch, EventId id, Answer& answer) {
  auto loaded = batch.transaction->load({{id}}, Transaction::Part::head);
  if (!loaded) return loaded.error();
  if (!loaded->front()) {
    answer.explanation = not_found(id);
    return {};
  }
  const Event& event = loaded->front()->event;
  auto log = batch.transaction->log(id);
  if (!log) return log.error();
  std::optional<LogEntry> last;
  if (!log->empty()) last = std::move(log->back());
  answer.explanation =
      Explanation{id, event.status, eventq::explain(event, last, demand_for(event), batch.now())};
  return {};
}

std::vector<Addressed> Core::settle(Batch& batch, std::vector<Request>& requests) {
  const TimePoint now = batch.now();
  last_error_.reset();
  next_due_ = batch.next_due;
  next_purge_ = batch.next_purge.value_or(next_purge_);

  for (const std::size_t i : batch.waiting) {
    ClaimRequest& request = *requests[i].command.claim;
    const TimePoint deadline = now + request.wait;
    waiters_.add({requests[i].origin, std::move(request), deadline, std::move(batch.answers[i])});
  }
  std::vector<Addressed> answers;
  answers.reserve(requests.size() + batch.served.size());
  auto waits = batch.waiting.begin();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (waits != batch.waiting.end() && *waits == i) {
      ++waits;
      continue;
    }
    answers.push_back({requests[i].origin, std::move(batch.answers[i])});
  }
  for (Batch::Served& served : batch.served) {
    served.waiter.answer.claims = std::move(served.claims);
    answers.push_back({served.waiter.origin, std::move(served.waiter.answer)});
  }
  if (!batch.own_time) end_waits(now, answers);
  return answers;
}

std::vector<Addressed> Core::refuse(Batch& batch, std::vector<Request>& requests, const Error& error) {
  for (Batch::Served& served : batch.served) waiters_.put_back(served.place, std::move(served.waiter));
  last_error_ = error;
  std::vector<Addressed> answers;
  answers.reserve(requests.size());
  for (const Request& request : requests) answers.push_back({request.origin, Answer{.error = error}});
  if (batch.transaction) end_waits(batch.now(), answers);
  batch.transaction.reset();  // rolls back
  return answers;
}

// Answers those who have waited long enough with nothing, whatever the store does.
void Core::end_waits(TimePoint now, std::vector<Addressed>& answers) {
  for (Waiter& waiter : waiters_.take_expired(now))
    answers.push_back({waiter.origin, std::move(waiter.answer)});
}

std::vector<Addressed> Core::dismiss_waiters() {
  std::vector<Addressed> answers;
  for (Waiter& waiter : waiters_.take_all()) answers.push_back({waiter.origin, std::move(waiter.answer)});
  return answers;
}

std::optional<TimePoint> Core::next_attention() const {
  const auto deadline = waiters_.next_deadline();
  if (!deadline || !next_due_) return deadline ? deadline : next_due_;
  return std::min(*deadline, *next_due_);
}

void Core::note_demand(const ClaimRequest& request, TimePoint now) {
  if (last_poll_.size() > kDemandMax) last_poll_.clear();
  if (request.selector.tags.empty()) last_poll_[{request.selector.queue, ""}] = now;
  for (const std::string& tag : request.selector.tags) last_poll_[{request.selector.queue, tag}] = now;
}

Demand Core::demand_for(const Event& event) const {
  Demand demand;
  const auto consider = [&](const std::string& tag) {
    demand.waiting += waiters_.waiting(event.queue, tag);
    const auto found = last_poll_.find({event.queue, tag});
    if (found != last_poll_.end())
      demand.last_poll = std::max(demand.last_poll.value_or(found->second), found->second);
  };
  consider("");
  for (const std::string& tag : event.tags) consider(tag);
  return demand;
}

}  // namespace eventq
