// embedded_admin.cc: the calls of eventq/admin.h on an engine in this process.
#include <utility>
#include <variant>

#include "base/range.h"
#include "eventq/limits.h"
#include "model/cause.h"
#include "model/pattern.h"
#include "model/tags.h"
#include "model/validate.h"
#include "queue/embedded_queue.h"

namespace eventq {
namespace {

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

Result<ListFilter> filter_of(const EventQuery& query) {
  if (auto fault = out_of_range("limit", query.limit, 1, limits::kPage)) return *fault;
  ListFilter filter;
  filter.status = query.status;
  filter.queue = unless_empty(query.queue);
  filter.worker_id = unless_empty(query.worker_id);
  filter.correlation_id = unless_empty(query.correlation_id);
  filter.pattern = unless_empty(query.pattern);
  if (filter.pattern) {
    if (auto fault = validate_pattern(*filter.pattern)) return *fault;
  }
  if (query.since && query.until && *query.since >= *query.until)
    return Error{ErrorCode::invalid_argument, "until must be later than since.", "until"};
  filter.since = query.since;
  filter.until = query.until;
  filter.limit = query.limit;
  if (!query.newest_first) {
    filter.after = query.after;
  } else {
    filter.order = ListOrder::descending;
    if (query.after != EventId{}) filter.before = query.after;
  }
  if (query.tags.empty()) return filter;
  auto tags = clean_tags(query.tags);
  if (!tags) return tags.error();
  filter.tags = std::move(*tags);
  return filter;
}

EventSummary summary_of(Event& event, const LastErrors& last_errors) {
  const auto error = last_errors.find(event.id);
  return {.id = event.id,
          .event_id = std::move(event.event_id),
          .queue = std::move(event.queue),
          .title = std::move(event.title),
          .tags = std::move(event.tags),
          .status = event.status,
          .priority = event.priority,
          .attempts = event.attempts,
          .retry_count = event.retry_count,
          .worker_id = std::move(event.worker_id),
          .correlation_id = std::move(event.correlation_id),
          .pattern = std::move(event.pattern),
          .last_error = error == last_errors.end() ? std::string() : error->second,
          .created_at = event.created_at,
          .updated_at = event.updated_at};
}

WorkerInfo info_of(const ListedWorker& worker) {
  WorkerInfo info{.worker_id = worker.row.id,
                  .first_seen = worker.row.first_seen,
                  .last_seen = worker.row.last_seen,
                  .completed = worker.row.completed,
                  .failed = worker.row.failed,
                  .holding = worker.holding,
                  .state = worker.state,
                  .stale_because = worker.stale_because};
  if (worker.asked) {
    info.queue = worker.asked->queue;
    info.tags = worker.asked->tags;
  }
  return info;
}

QueueFigures figures_of(const QueueMetrics& queue) {
  QueueFigures figures{.queue = queue.queue,
                       .oldest_pending = queue.oldest_pending,
                       .backpressure = queue.backpressure,
                       .published = queue.totals.published,
                       .claimed = queue.totals.claimed,
                       .completed = queue.totals.completed,
                       .failed = queue.totals.failed,
                       .retried = queue.totals.retried,
                       .abandoned = queue.totals.abandoned};
  for (std::size_t i = 0; i < queue.counts.size(); ++i)
    figures.events[static_cast<Status>(i)] = queue.counts.at(i);
  return figures;
}

}  // namespace

Result<EventList> EmbeddedQueue::list_events(const EventQuery& query) {
  auto filter = filter_of(query);
  if (!filter) return filter.error();
  Command command;
  command.list = std::move(*filter);
  Answer answer = engine_->call(std::move(command));
  if (answer.error) return *answer.error;
  if (!*answer.page) return answer.page->error();
  EventPage& page = **answer.page;
  EventList list{
      .total = page.total, .total_exact = page.total_exact, .missing_shards = std::move(answer.missing)};
  for (Event& event : page.events) list.events.push_back(summary_of(event, page.last_errors));
  list.next = page.next();
  return list;
}

Result<LogEntry> EmbeddedQueue::intervene(EventId id, EventIntervention what, const Actor& actor) {
  Change requested{Lease{id, "", std::nullopt}, Cancel{actor.reason, actor.by}};
  if (what == EventIntervention::retry)
    requested.what = Reset{.reason = actor.reason, .spare_processing = false, .author = actor.by};
  auto changed = change(std::move(requested));
  if (!changed) return changed.error();
  return std::move(changed->entry);
}

Result<void> EmbeddedQueue::intervene(const std::string& queue, QueueIntervention what, const Actor& actor) {
  if (auto fault = validate_queue_name(queue)) return *fault;
  if (auto fault = validate(actor)) return *fault;
  const auto status = what == QueueIntervention::pause ? QueueStatus::paused : QueueStatus::active;
  const Answer answer = engine_->call({.admin = QueueChange{queue, QueueChange::SetStatus{status}, actor}});
  if (answer.error) return *answer.error;
  const auto& changed = std::get<Result<QueueChanged>>(answer.admin);
  if (!changed) return changed.error();
  return {};
}

Result<FailureList> EmbeddedQueue::list_failures(const std::string& queue, std::size_t limit) {
  if (!queue.empty()) {
    if (auto fault = validate_queue_name(queue)) return *fault;
  }
  if (auto fault = out_of_range("limit", limit, 1, limits::kPage)) return *fault;
  Answer answer = engine_->call({.admin = FailuresQuery{unless_empty(queue), limit}});
  if (answer.error) return *answer.error;
  const auto& groups = std::get<Result<std::vector<FailureGroup>>>(answer.admin);
  if (!groups) return groups.error();
  FailureList list{.missing_shards = std::move(answer.missing)};
  for (const FailureGroup& group : *groups) {
    list.failures.push_back({.queue = group.queue,
                             .cause = group.cause,
                             .sample = sample_of(group),
                             .events = group.events,
                             .first_at = group.first_at,
                             .last_at = group.last_at,
                             .last_event = group.last_event});
  }
  return list;
}

Result<WorkerList> EmbeddedQueue::list_workers() {
  Answer answer = engine_->call({.admin = WorkersRequest{}});
  if (answer.error) return *answer.error;
  WorkerList list{.missing_shards = std::move(answer.missing)};
  for (const ListedWorker& worker : std::get<std::vector<ListedWorker>>(answer.admin))
    list.workers.push_back(info_of(worker));
  return list;
}

Result<Figures> EmbeddedQueue::read_figures() {
  Answer answer = engine_->call({.admin = MetricsRequest{}});
  if (answer.error) return *answer.error;
  const auto& metrics = std::get<Metrics>(answer.admin);
  const auto counts = count_by_state(metrics.workers);
  Figures figures{
      .failed_24h = metrics.failed_24h,
      .waiting_claims = metrics.waiting_claims,
      .waiting_ends = metrics.waiting_ends,
      .workers = std::ssize(metrics.workers) - counts.at(static_cast<std::size_t>(WorkerState::gone)),
      .stale_workers = counts.at(static_cast<std::size_t>(WorkerState::stale)),
      .missing_shards = std::move(answer.missing)};
  for (const QueueMetrics& queue : metrics.queues) figures.queues.push_back(figures_of(queue));
  return figures;
}

}  // namespace eventq
