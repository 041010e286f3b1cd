// memory_reader.cc: reads the store in memory. Each call holds the mutex until it returns.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "model/page.h"
#include "model/pattern.h"
#include "model/tags.h"
#include "store/memory/memory_state.h"
#include "store/stored_event.h"

namespace eventq::memory {
namespace {

// Repeats matches() on purpose: tests compare the other stores with this one, and shared code would hide its
// own faults.
bool is_listed(const Event& event, const ListFilter& filter) {
  if (filter.status && event.status != *filter.status) return false;
  if (filter.event_id && event.event_id != *filter.event_id) return false;
  if (filter.queue && event.queue != *filter.queue) return false;
  if (filter.correlation_id && event.correlation_id != *filter.correlation_id) return false;
  if (filter.since && event.created_at < *filter.since) return false;
  if (filter.until && event.created_at >= *filter.until) return false;
  if (filter.pattern && !pattern_fits(*filter.pattern, event.pattern)) return false;
  return has_any(event.tags, filter.tags);
}

// The message of the newest failure in a log; empty: there is none.
std::string last_error(const std::vector<LogEntry>& log) {
  std::string last;
  for (const LogEntry& entry : log) {
    if (entry.action != Action::failed) continue;
    const std::string message = entry.error_message.value_or("");
    if (!message.empty() || !entry.reason.empty()) last = message.empty() ? entry.reason : message;
  }
  return last;
}

// REQUIRES: `event` ended after all events that were added to the group before.
void add(const Event& event, FailureGroup& group) {
  if (group.events++ == 0) group.first_at = event.updated_at;
  group.last_at = event.updated_at;
  group.last_event = event.id;
}

std::vector<LogEntry> without_details(std::vector<LogEntry> log) {
  for (LogEntry& entry : log) entry.error_detail.clear();
  return log;
}

class MemoryReader final : public Reader {
 public:
  MemoryReader(const MemoryState& state, std::mutex& mutex) : state_(state), mutex_(mutex) {}

  Result<std::optional<Event>> get(EventId id) override {
    const std::scoped_lock lock(mutex_);
    const auto found = state_.events.find(id);
    return found == state_.events.end() ? std::nullopt
                                        : std::optional(with_result(state_, found->second.event));
  }

  Result<std::vector<LogEntry>> log(EventId id) override {
    const std::scoped_lock lock(mutex_);
    return log_of(state_, id);
  }

  Result<std::optional<Details>> details(EventId id) override {
    const std::scoped_lock lock(mutex_);
    const auto found = state_.events.find(id);
    if (found == state_.events.end()) return std::optional<Details>();
    return std::optional(Details{with_result(state_, found->second.event), log_of(state_, id)});
  }

  Result<EventPage> list(const ListFilter& filter) override {
    const std::scoped_lock lock(mutex_);
    EventPage page;
    // A list that scans begins behind its cut, so its total is a lower bound.
    const bool cut = filter.after > EventId{} || filter.before;
    page.total_exact = !filter.scans() || !cut;
    std::int64_t skipped = 0;
    for (const Event* event : matching(filter)) {
      const bool left_out = event->id <= filter.after || (filter.before && event->id >= *filter.before);
      if (left_out && filter.scans()) continue;
      ++page.total;
      // The total counts all matches; the page leaves out those that `after`, `before` and `offset` skip.
      if (left_out || skipped++ < filter.offset) continue;
      if (page.events.size() == filter.limit) {
        page.more = true;
        continue;
      }
      Event& listed = page.events.emplace_back(filter.include.payload ? *event : without_payload(*event));
      if (filter.include.result) listed = with_result(state_, std::move(listed));
      if (filter.include.logs) page.logs[event->id] = log_of(state_, event->id);
    }
    page.last_errors = last_errors(page.events);
    if (filter.include.any()) limit_bytes(page, kClaimBytes);
    return page;
  }

  Result<std::optional<QueueDocument>> queue(const std::string& id, std::size_t events) override {
    const std::scoped_lock lock(mutex_);
    const auto row = state_.records.queues.find(id);
    if (row == state_.records.queues.end()) return std::optional<QueueDocument>();
    QueueDocument document = document_of(record_of(state_, row->second));
    for (const auto& [event_id, stored] : state_.events) {
      if (document.events.size() == events) break;
      if (stored.archived || stored.event.queue != id) continue;
      document.events.push_back({stored.event, without_details(log_of(state_, event_id))});
    }
    return std::optional(std::move(document));
  }

  Result<std::vector<QueueDocument>> queues() override {
    const std::scoped_lock lock(mutex_);
    std::vector<QueueDocument> all;
    for (const auto& [id, row] : state_.records.queues) all.push_back(document_of(record_of(state_, row)));
    return all;
  }

  Result<std::vector<Checkpoint>> checkpoints(const std::string& queue, std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    const std::vector<Checkpoint>& all = state_.records.checkpoints;
    std::vector<Checkpoint> found;
    // The list is sorted with the oldest first, and the caller wants the newest first.
    std::copy_if(all.rbegin(), all.rend(), std::back_inserter(found),
                 [&](const Checkpoint& checkpoint) { return checkpoint.queue == queue; });
    found.resize(std::min(found.size(), limit));
    return found;
  }

  Result<std::optional<Recovery>> recovery(const std::string& queue) override {
    const std::scoped_lock lock(mutex_);
    const auto found = state_.records.recoveries.find(queue);
    return found == state_.records.recoveries.end() ? std::nullopt : std::optional(found->second);
  }

  Result<std::optional<Correlation>> correlation(const std::string& id, EventId after,
                                                 std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    const auto found = state_.records.correlations.find(id);
    if (found == state_.records.correlations.end()) return std::optional<Correlation>();
    const CorrelationRow& row = found->second;
    Correlation correlation{row.id, row.total, row.pending, row.completed, row.failed, {}};
    for (const auto& [event_id, stored] : state_.events) {
      if (correlation.events.size() == limit) break;
      const bool belongs = event_id > after && stored.event.correlation_id == id;
      if (belongs) correlation.events.push_back(without_payload(stored.event));
    }
    correlation.last_errors = last_errors(correlation.events);
    std::size_t bytes = 0;
    for (Event& event : correlation.events) {
      Event whole = with_result(state_, event);
      if (bytes >= kClaimBytes && !whole.result.empty()) correlation.left_out.insert(event.id);
      if (bytes < kClaimBytes) event.result = whole.result;
      bytes += event.result.size();
    }
    return std::optional(std::move(correlation));
  }

  Result<std::vector<FailureGroup>> failures(const std::optional<std::string>& queue,
                                             std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    std::map<std::pair<std::string, std::string>, FailureGroup> by_cause;
    for (const Stored* stored : in_order_of_end(state_)) {
      const Event& event = stored->event;
      if (event.status != Status::failed || (queue && event.queue != *queue)) continue;
      FailureGroup& group = by_cause[{event.queue, stored->cause}];
      group.queue = event.queue;
      group.cause = stored->cause;
      add(event, group);
    }
    std::vector<FailureGroup> groups;
    groups.reserve(by_cause.size());
    for (auto& [cause, group] : by_cause) groups.push_back(std::move(group));
    // Groups of equal size keep the order of queue and cause, which the map gave them.
    std::stable_sort(groups.begin(), groups.end(),
                     [](const FailureGroup& a, const FailureGroup& b) { return a.events > b.events; });
    groups.resize(std::min(groups.size(), limit));
    for (FailureGroup& group : groups) group.sample = last_error(log_of(state_, group.last_event));
    return groups;
  }

  Result<std::vector<EventId>> expired(const std::string& queue, Status status, TimePoint before,
                                       std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    std::vector<EventId> ids;
    for (const Stored* stored : in_order_of_end(state_)) {
      const Event& event = stored->event;
      // The events are ordered by the time of their end, so no later one can match.
      if (ids.size() == limit || event.updated_at >= before) break;
      if (event.queue == queue && event.status == status && stored->line != Line::head)
        ids.push_back(event.id);
    }
    return ids;
  }

  Result<std::vector<ArchiveFile>> archive_files() override {
    const std::scoped_lock lock(mutex_);
    std::vector<ArchiveFile> files;
    for (const auto& [name, file] : state_.records.archive_files) files.push_back(file);
    return files;
  }

  Result<std::vector<std::optional<EventId>>> find(std::span<const std::string> event_ids) override {
    const std::scoped_lock lock(mutex_);
    std::vector<std::optional<EventId>> found;
    for (const std::string& event_id : event_ids) {
      const auto at = std::find_if(state_.events.begin(), state_.events.end(), [&](const auto& entry) {
        return entry.second.event.event_id == event_id;
      });
      found.push_back(at == state_.events.end() ? std::nullopt : std::optional(at->first));
    }
    return found;
  }

  Result<WorkerLogPage> worker_log(const WorkerLogFilter& filter) override {
    const std::scoped_lock lock(mutex_);
    WorkerLogPage page;
    for (auto at = state_.log.rbegin(); at != state_.log.rend(); ++at) {
      const LogCursor cursor{at->first.first, at->first.second};
      if (at->second.worker_id != filter.worker_id || (filter.before && cursor >= *filter.before)) continue;
      page.entries.push_back(at->second);
      page.entries.back().error_detail.clear();
      if (page.entries.size() < filter.limit) continue;
      page.next = cursor;
      break;
    }
    return page;
  }

  Result<std::vector<QueueLogEntry>> queue_log(const QueueLogFilter& filter) override {
    const std::scoped_lock lock(mutex_);
    std::vector<QueueLogEntry> entries;
    const auto& log = state_.records.queue_log;
    for (auto at = log.rbegin(); at != log.rend() && entries.size() < filter.limit; ++at) {
      if (at->first.first != filter.queue) continue;
      if (filter.before.empty() || at->first.second < filter.before) entries.push_back(at->second);
    }
    return entries;
  }

  Result<Working> working() override {
    const std::scoped_lock lock(mutex_);
    return working_of(state_);
  }

  Result<std::int64_t> holding(const std::string& worker_id, const std::string& queue) override {
    const std::scoped_lock lock(mutex_);
    return std::count_if(state_.events.begin(), state_.events.end(), [&](const auto& entry) {
      const auto& [id, stored] = entry;
      const bool held = stored.event.status == Status::processing && stored.event.worker_id == worker_id;
      // A processing event is ready only after its lease expired. No rule makes an event behind a head
      // processing; SQL stores leave such rows out, so this model does, too.
      return held && !stored.ready && stored.line != Line::behind && stored.event.queue == queue;
    });
  }

  Result<std::vector<std::int64_t>> unattended(std::span<const AskedTags> queues) override {
    const std::scoped_lock lock(mutex_);
    std::vector<std::int64_t> counts;
    for (const AskedTags& asked : queues) {
      const auto count = std::count_if(state_.events.begin(), state_.events.end(), [&](const auto& entry) {
        const Event& event = entry.second.event;
        const bool attended = !asked.tags.empty() && has_any(event.tags, asked.tags);
        return entry.second.ready && event.queue == asked.queue && !attended;
      });
      counts.push_back(std::min<std::int64_t>(count, limits::kUnattended));
    }
    return counts;
  }

 private:
  // In the order of the filter.
  std::vector<const Event*> matching(const ListFilter& filter) const {
    std::vector<const Event*> found;
    for (const auto& [id, stored] : state_.events) {
      if (!is_listed(stored.event, filter)) continue;
      if (filter.worker_id && !was_picked_by(stored.event, *filter.worker_id)) continue;
      if (filter.error && !contains_ignoring_case(last_error(log_of(state_, id)), *filter.error)) continue;
      found.push_back(&stored.event);
    }
    if (filter.order == ListOrder::descending) std::reverse(found.begin(), found.end());
    return found;
  }

  bool was_picked_by(const Event& event, const std::string& worker_id) const {
    if (event.worker_id == worker_id) return true;
    // The event names the only worker that picked it, or none did.
    if (event.attempts == 0 || (event.attempts == 1 && !event.worker_id.empty())) return false;
    const std::vector<LogEntry> log = log_of(state_, event.id);
    return std::any_of(log.begin(), log.end(), [&](const LogEntry& entry) {
      return entry.action == Action::picked && entry.worker_id == worker_id;
    });
  }

  LastErrors last_errors(const std::vector<Event>& events) const {
    LastErrors errors;
    for (const Event& event : events) {
      std::string message = last_error(log_of(state_, event.id));
      if (!message.empty()) errors[event.id] = std::move(message);
    }
    return errors;
  }

  const MemoryState& state_;  // guarded by mutex_
  std::mutex& mutex_;
};

}  // namespace

std::unique_ptr<Reader> make_reader(const MemoryState& state, std::mutex& mutex) {
  return std::make_unique<MemoryReader>(state, mutex);
}

}  // namespace eventq::memory
