// publish.cc: the Core's publications: idempotency keys, limits, and events that a new one supersedes.
#include <set>
#include <utility>

#include "core/batch.h"
#include "eventq/limits.h"
#include "model/event_context.h"
#include "wire/new_event_json.h"

namespace eventq {
namespace {

// The correlation id of a batch that existed already.
std::string correlation_of(const std::vector<Event>& events) {
  return events.empty() ? "" : events.front().correlation_id;
}

// The event as the first answer showed it, because a repeated request must get the same answer. Its original
// due time is lost once a claim or report changed it; then the creation time stands in.
Event as_published(Event event) {
  const bool untouched = event.attempts == 0 && event.updated_at == event.created_at;
  if (!untouched) event.due_at = event.created_at;
  event.status = Status::pending;
  event.attempts = 0;
  event.retry_count = 0;
  event.unreported = 0;
  event.worker_id.clear();
  event.picked_at = {};
  event.updated_at = event.created_at;
  event.superseded_by.reset();
  return event;
}

std::set<std::string> queues_of(const std::vector<NewEvent>& events) {
  std::set<std::string> queues;
  for (const NewEvent& event : events) queues.insert(event.queue);
  return queues;
}

// Whether any of the events does not exist yet.
Result<bool> brings_new(Transaction& transaction, const Publication& publication) {
  for (const NewEvent& event : publication.events) {
    if (event.event_id.empty()) return true;
    auto existing = transaction.find(event.event_id);
    if (!existing) return existing.error();
    if (!*existing) return true;
  }
  return false;
}

}  // namespace

Result<void> Core::publish(Batch& batch, Publication& publication, Answer& answer) {
  const std::set<std::string> queues = queues_of(publication.events);
  auto replayed = replay(batch, publication);
  if (!replayed) return replayed.error();
  if (*replayed) {
    answer.published = std::move(**replayed);
  } else if (publication.only_replay) {
    answer.published = Error{ErrorCode::not_found, "The Idempotency-Key was not used before."};
  } else if (auto refused = refuse_publication(batch, publication); !refused) {
    return refused.error();
  } else if (*refused) {
    answer.published = std::move(**refused);
  } else {
    answer.published = Published();
    if (auto done = admit_all(batch, publication, **answer.published); !done) return done;
    if (auto done = put_key(batch, publication, **answer.published, queues); !done) return done;
  }
  for (const std::string& queue : queues) {
    const QueueState* state = shared_ ? find_state(batch, queue) : nullptr;
    if (state == nullptr || !state->policy.high_watermark) continue;
    if (auto done = refresh(batch, queue); !done) return done;
  }
  // settle() sets the flag, because backpressure depends on all publications of the batch.
  batch.backpressure_checks.push_back({&answer, {queues.begin(), queues.end()}});
  return {};
}

// Stores the idempotency key, if there is one, with the events that a repeated request must get. The events
// may all have existed, so that only the key is written: a strict queue makes the batch strict here too.
Result<void> Core::put_key(Batch& batch, const Publication& publication, const Published& published,
                           const std::set<std::string>& queues) {
  if (!publication.key) return {};
  KeyRecord record{publication.key->key, publication.key->fingerprint, {}, batch.now()};
  for (const Event& event : published.events) record.events.push_back(event.id);
  for (const std::string& queue : queues) {
    const QueueState* state = find_state(batch, queue);
    batch.strict = batch.strict || state == nullptr || state->policy.durability == Durability::strict;
  }
  return batch.transaction->put_key(record);
}

// The answer to a request whose idempotency key was used before; empty for a new key.
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
  auto loaded = batch.transaction->load((*record)->events, Transaction::EventFields::all);
  if (!loaded) return loaded.error();
  Published published{.correlation_id = publication.events.front().correlation_id, .replayed = true};
  for (std::optional<Stored>& stored : *loaded) {
    if (!stored) continue;
    // An event that existed before the key was used was shown in its present state; so it is again.
    const bool existed = stored->event.created_at != (*record)->created_at;
    published.existed = existed && loaded->size() == 1;
    if (!existed && publication.correlated) published.correlation_id = stored->event.correlation_id;
    batch.queues[stored->event.queue].totals.deduplicated += 1;
    published.events.push_back(existed ? std::move(stored->event) : as_published(std::move(stored->event)));
  }
  if (published.events.empty()) {
    return Found(Error{ErrorCode::conflict,
                       "What was published with the Idempotency-Key \"" + publication.key->key +
                           "\" has ended and left the queue since. Use a new key to publish it once more.",
                       "Idempotency-Key"});
  }
  if (publication.correlated && published.correlation_id.empty()) {
    published.correlation_id = correlation_of(published.events);
  }
  return Found(std::move(published));
}

// Why the publication is refused as a whole; empty if it is accepted. An event whose event_id exists, or is
// repeated in the publication, adds nothing. So a draining or full queue does not refuse it, and a
// publisher can safely retry.
Result<Core::Refusal> Core::refuse_publication(Batch& batch, const Publication& publication) {
  if (publication.on_complete) {
    auto refused = refuse_on_complete(batch, publication);
    if (!refused || *refused) return refused;
  }
  for (const std::string& queue : queues_of(publication.events)) {
    const QueueState* state = find_state(batch, queue);
    const bool draining = state != nullptr && state->row.status == QueueStatus::draining;
    if (!draining && !is_limited(queue, state)) continue;

    std::vector<const NewEvent*> fresh;
    std::set<std::string_view> seen;
    for (const NewEvent& event : publication.events) {
      if (event.queue != queue) continue;
      if (!event.event_id.empty()) {
        auto existing = batch.transaction->find(event.event_id);
        if (!existing) return existing.error();
        if (*existing || !seen.insert(event.event_id).second) continue;
      }
      fresh.push_back(&event);
    }
    if (fresh.empty()) continue;
    if (draining) return Refusal(draining_error(queue));
    auto growth = net_growth(batch, fresh);
    if (!growth) return growth.error();
    auto refused = refuse_growth(batch, queue, *growth);
    if (!refused || *refused) return refused;
  }
  return Refusal();
}

Result<Core::Refusal> Core::refuse_on_complete(Batch& batch, const Publication& publication) {
  const std::string& id = publication.events.front().correlation_id;
  if (id.empty()) return Refusal();  // a new id cannot have an on_complete event yet
  auto row = batch.transaction->find_correlation(id);
  if (!row) return row.error();
  const auto delta = batch.correlations.find(id);
  const bool in_batch = delta != batch.correlations.end() && !delta->second.change.on_complete.empty();
  if (!in_batch && (!*row || (*row)->on_complete.empty())) return Refusal();
  auto is_new = brings_new(*batch.transaction, publication);
  if (!is_new) return is_new.error();
  if (!*is_new) return Refusal();  // the same batch was sent again
  return Refusal(Error{
      ErrorCode::conflict,
      "Correlation \"" + id + "\" has an on_complete event already. Use another correlation_id, or none.",
      "on_complete"});
}

// How many live events these add to their queue. A superseded event leaves it.
Result<std::int64_t> Core::net_growth(Batch& batch, const std::vector<const NewEvent*>& events) {
  std::int64_t growth = 0;
  std::set<std::string_view> keys;
  for (const NewEvent* event : events) {
    if (event->supersede_key.empty()) {
      ++growth;
      continue;
    }
    if (!keys.insert(event->supersede_key).second) continue;  // it supersedes the one before it
    auto older = batch.transaction->with_supersede_key(event->queue, event->supersede_key);
    if (!older) return older.error();
    growth += 1 - std::ssize(*older);
  }
  return growth;
}

// Stores the events that do not exist yet, and answers with all of them. If all of them exist, the answer has
// the correlation id that they were published with.
Result<void> Core::admit_all(Batch& batch, Publication& publication, Published& published) {
  // Copies, because the loop moves the events out.
  const std::string own = publication.events.front().correlation_id;
  const std::string queue = publication.events.front().queue;
  const std::string& spare = publication.spare_correlation_id;
  if (publication.correlated && !own.empty()) published.correlation_id = own;
  if (publication.correlated && own.empty())
    published.correlation_id = spare.empty() ? "corr_" + ids_.next(batch.now()) : spare;
  bool any_new = false;
  for (NewEvent& event : publication.events) {
    const int position = static_cast<int>(published.events.size());
    if (!event.event_id.empty()) {
      auto existing = batch.transaction->find(event.event_id);
      if (!existing) return existing.error();
      if (*existing) {
        auto loaded = batch.transaction->load({{**existing}}, Transaction::EventFields::all);
        if (!loaded) return loaded.error();
        published.events.push_back(std::move(loaded->front()->event));
        published.existed = publication.events.size() == 1;
        batch.queues[published.events.back().queue].totals.deduplicated += 1;
        continue;
      }
    }
    if (publication.correlated) event.correlation_id = published.correlation_id;
    if (publication.ordered && event.ordering_key.empty()) event.ordering_key = published.correlation_id;
    auto admitted =
        admit_one(batch, std::move(event), publication.correlated ? std::optional(position) : std::nullopt);
    if (!admitted) return admitted.error();
    published.events.push_back(std::move(*admitted));
    any_new = true;
  }
  if (publication.on_complete && any_new) {
    CorrelationRow& row = batch.correlations[published.correlation_id].change;
    pack_context(
        *publication.on_complete);  // eventq.publish_promised() of PostgreSQL reads `attributes` only
    row.on_complete = wire::write_new_event(*publication.on_complete);
    row.queue = queue;
  }
  if (publication.correlated && own.empty() && !any_new) {
    published.correlation_id = correlation_of(published.events);
  }
  return {};
}

// Stores one new event at the end of its line, and supersedes older events with its supersede_key.
Result<Event> Core::admit_one(Batch& batch, NewEvent&& event, std::optional<int> sequence) {
  const TimePoint now = batch.now();
  if (find_state(batch, event.queue) == nullptr) {
    if (auto done = create_queue(batch, event.queue); !done) return done.error();
  }
  std::string event_id = event.event_id.empty() ? "evt_" + ids_.next(now) : std::move(event.event_id);
  const Policy& policy = state_of(batch, event.queue).policy;
  Stored stored{.event = admit(std::move(event), std::move(event_id), now, policy)};
  stored.event.sequence = sequence;
  if (!stored.event.ordering_key.empty()) {
    auto head = batch.transaction->head_of_line(stored.event.queue, stored.event.ordering_key);
    if (!head) return head.error();
    stored.line = *head ? Line::behind : Line::head;
  }
  if (auto done = batch.transaction->insert({&stored, 1}); !done) return done.error();
  note_change(batch, stored, std::nullopt);
  if (stored.ready) batch.note_ready(stored);
  batch.queues[stored.event.queue].totals.published += 1;
  if (!stored.event.supersede_key.empty()) {
    if (auto done = supersede_older(batch, stored.event); !done) return done.error();
  }
  return std::move(stored.event);
}

Result<void> Core::supersede_older(Batch& batch, const Event& newer) {
  auto older = batch.transaction->with_supersede_key(newer.queue, newer.supersede_key);
  if (!older) return older.error();
  for (const EventId id : *older) {
    if (id == newer.id) continue;
    auto done = supersede(batch, id, Supersede{newer.id, ""});
    if (!done) return done.error();
  }
  return update_line_heads(batch);
}

// Ends a pending event and returns true. Leaves an event in work alone and returns false.
Result<bool> Core::supersede(Batch& batch, EventId id, const Supersede& how) {
  auto loaded = batch.transaction->load({{id}}, Transaction::EventFields::state);
  if (!loaded) return loaded.error();
  std::optional<Stored>& stored = loaded->front();
  if (!stored || stored->event.status != Status::pending) return false;
  auto decision = decide(stored->event, {Lease{id, "", std::nullopt}, how}, {}, batch.now(),
                         state_of(batch, stored->event.queue).policy);
  if (!decision) return decision.error();
  if (auto done = record(batch, *stored, *decision); !done) return done.error();
  return true;
}

}  // namespace eventq
