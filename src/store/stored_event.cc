// stored_event.cc: see stored_event.h.
#include "store/stored_event.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/tags.h"

namespace eventq {

Guard guard_of(const Event& event) { return {event.status, event.attempts, event.worker_id}; }

Error guard_failed(EventId id) {
  return {ErrorCode::internal,
          "Event " + std::to_string(static_cast<std::int64_t>(id)) +
              " changed under its own transaction. This is a bug in eventq; please report it.",
          ""};
}

void copy_state(const Event& from, Event& to) {
  to.status = from.status;
  to.attempts = from.attempts;
  to.retry_count = from.retry_count;
  to.unreported = from.unreported;
  to.worker_id = from.worker_id;
  to.due_at = from.due_at;
  to.picked_at = from.picked_at;
  to.updated_at = from.updated_at;
  to.superseded_by = from.superseded_by;
}

void move_envelope(Event&& from, Event& to) {
  to.title = std::move(from.title);
  to.description = std::move(from.description);
  to.payload = std::move(from.payload);
  to.causation_id = std::move(from.causation_id);
  to.trace_id = std::move(from.trace_id);
  to.pattern = std::move(from.pattern);
  to.version = std::move(from.version);
  to.source = std::move(from.source);
  to.attributes = std::move(from.attributes);
  to.sequence = from.sequence;
  to.timestamp = from.timestamp;
}

void copy_bookkeeping(const Stored& from, Stored& to) {
  to.guard = from.guard;
  to.archived = from.archived;
  to.ready = from.ready;
  to.line_before = from.line_before;
  to.turn = from.turn;
}

void add_to(WorkerRow& row, const WorkerRow& change) {
  row.last_seen = std::max(row.last_seen, change.last_seen);
  row.completed += change.completed;
  row.failed += change.failed;
}

QueueDocument document_of(QueueRecord&& record) {
  return {std::move(record.row), record.counts, record.totals, std::move(record.checkpoint_id), {},
          record.changed_at};
}

bool matches(const Event& event, const ListFilter& filter) {
  return (!filter.status || event.status == *filter.status) &&
         (!filter.event_id || event.event_id == *filter.event_id) &&
         (!filter.queue || event.queue == *filter.queue) &&
         (!filter.correlation_id || event.correlation_id == *filter.correlation_id) &&
         has_any(event.tags, filter.tags);
}

PickedBy picked_by(const Event& event, std::string_view worker_id) {
  if (event.worker_id == worker_id) return PickedBy::yes;
  // No worker, or only the one that the event names, picked it.
  const bool only_one = event.attempts == 1 && !event.worker_id.empty();
  return event.attempts == 0 || only_one ? PickedBy::no : PickedBy::see_log;
}

bool matches_unindexed(const Stored& stored, const EndedFilter& filter) {
  return (filter.pattern.empty() || stored.event.pattern == filter.pattern) &&
         (!filter.cause || stored.cause == *filter.cause) && has_any(stored.event.tags, filter.tags);
}

std::vector<Status> statuses_of(const EndedFilter& filter) {
  if (!filter.statuses.empty()) return filter.statuses;
  return {Status::completed, Status::completed_with_errors, Status::failed, Status::superseded,
          Status::cancelled};
}

PageBuilder::PageBuilder(const ListFilter& filter)
    : filter_(filter),
      has_stored_count_(filter.tags.empty() && !filter.event_id && !filter.worker_id &&
                        !filter.correlation_id) {}

ListFilter PageBuilder::walked() const {
  ListFilter walked = filter_;
  if (!has_stored_count_ && !filter_.worker_id) walked.after = EventId{};
  return walked;
}

bool PageBuilder::take(Event&& event) {
  ++matched_;
  const bool behind = event.id > filter_.after;
  if (behind && skipped_ < filter_.offset) {
    ++skipped_;
  } else if (behind && page_.events.size() < filter_.limit) {
    page_.events.push_back(std::move(event));
  }
  // Without a stored count the walk goes on after the page to count, up to kCountedMax matches.
  const bool full = page_.events.size() == filter_.limit;
  return !(full && (has_stored_count_ || matched_ >= kCountedMax));
}

void PageBuilder::stop(EventId last) {
  stopped_ = true;
  // A full page lacks only the count of later matches.
  if (page_.events.size() < filter_.limit) page_.scanned_to = last;
}

EventPage PageBuilder::finish(std::optional<std::int64_t> stored_count) {
  const bool counted_all = !stopped_ && !(filter_.worker_id && filter_.after > EventId{});
  page_.total = stored_count.value_or(matched_);
  page_.total_exact = stored_count || (counted_all && matched_ < kCountedMax);
  return std::move(page_);
}

}  // namespace eventq
