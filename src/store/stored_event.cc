// stored_event.cc: see stored_event.h.
#include "store/stored_event.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/page.h"
#include "model/pattern.h"
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

bool may_have_result(const Event& event) {
  return event.status == Status::completed || event.status == Status::completed_with_errors;
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
         (!filter.since || event.created_at >= *filter.since) &&
         (!filter.until || event.created_at < *filter.until) &&
         (!filter.pattern || pattern_fits(*filter.pattern, event.pattern)) &&
         has_any(event.tags, filter.tags);
}

bool matches_error(std::string_view message, const ListFilter& filter) {
  return !filter.error || contains_ignoring_case(message, *filter.error);
}

void IdRange::narrow(const IdRange& other) {
  after = std::max(after, other.after);
  before = std::min(before, other.before);
}

IdRange range_of(const ListFilter& filter) {
  return {filter.after, filter.before.value_or(EventId{std::numeric_limits<std::int64_t>::max()})};
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
      has_stored_count_(filter.tags.empty() && !filter.event_id && !filter.correlation_id && !filter.since &&
                        !filter.until && !filter.scans()) {}

ListFilter PageBuilder::walked() const {
  ListFilter walked = filter_;
  if (!has_stored_count_ && !filter_.scans()) {
    walked.after = EventId{};
    walked.before.reset();
  }
  return walked;
}

bool PageBuilder::has_all() const {
  return stored_count_ && !is_cut() &&
         filter_.offset + static_cast<std::int64_t>(page_.events.size()) >= *stored_count_;
}

bool PageBuilder::take(Event&& event) {
  ++matched_;
  const IdRange range = range_of(filter_);
  const bool listed = range.after < event.id && event.id < range.before;
  if (listed && skipped_ < filter_.offset) {
    ++skipped_;
  } else if (listed && page_.events.size() < filter_.limit) {
    page_.events.push_back(std::move(event));
  } else if (listed) {
    page_.more = true;
  }
  // Without a stored count the walk goes on after the page to count, up to kCountedMax matches.
  const bool counted = has_stored_count_ || matched_ >= kCountedMax;
  return !(counted && (page_.more || has_all()));
}

void PageBuilder::stop(EventId last) {
  stopped_ = true;
  // A full page continues behind its last event.
  if (page_.events.size() < filter_.limit) page_.scanned_to = last;
  page_.more = true;
}

EventPage PageBuilder::finish() {
  const bool counted_all = !stopped_ && !(filter_.scans() && is_cut());
  page_.total = stored_count_.value_or(matched_);
  page_.total_exact = stored_count_ || (counted_all && matched_ < kCountedMax);
  return std::move(page_);
}

}  // namespace eventq
