// memory_transaction.cc: the one transaction of the store in memory.
//
// It changes the MemoryState in place and holds the mutex until its destructor. It saves each value before
// the first change, and the destructor restores those values unless commit() was called.
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "eventq/limits.h"
#include "model/names.h"
#include "model/tags.h"
#include "store/memory/memory_state.h"
#include "store/stored_event.h"

namespace eventq::memory {
namespace {

// The other stores keep as many.
constexpr std::size_t kCheckpointsPerQueue = 100;

template <typename Map, typename Key>
auto found_in(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

// Saves the value before the first change; later changes of the same key keep that first value.
template <typename Before, typename Map, typename Key>
void remember(Before& before, const Map& map, const Key& key) {
  before.try_emplace(key, found_in(map, key));
}

// The order does not matter, because each key was saved once.
template <typename Before, typename Map>
void restore(Before& before, Map& map) {
  for (auto& [key, value] : before) {
    map.erase(key);
    if (value) map.emplace(key, std::move(*value));
  }
}

// Truncates the list after the event that brings the payloads to kClaimBytes.
void cut(std::vector<Stored>& events, std::size_t limit) {
  events.resize(std::min(events.size(), limit));
  std::size_t bytes = 0;
  const auto over = std::find_if(events.begin(), events.end(), [&](const Stored& stored) {
    return std::exchange(bytes, bytes + stored.event.payload.size()) >= kClaimBytes;
  });
  events.erase(over, events.end());
}

// The filters here repeat those of stored_event.h on purpose: tests compare the other stores with this one,
// and shared code would hide its own faults.
bool is_asked_for(const Event& event, const EndedFilter& filter) {
  const auto& statuses = filter.statuses;
  if (event.queue != filter.queue) return false;
  if (filter.from && event.updated_at < *filter.from) return false;
  if (filter.to && event.updated_at >= *filter.to) return false;
  if (filter.after &&
      std::pair(event.updated_at, event.id) <= std::pair(filter.after->ended_at, filter.after->id)) {
    return false;
  }
  return statuses.empty() || std::find(statuses.begin(), statuses.end(), event.status) != statuses.end();
}

bool fits(const Stored& stored, const EndedFilter& filter) {
  if (!filter.pattern.empty() && stored.event.pattern != filter.pattern) return false;
  if (filter.cause && stored.cause != *filter.cause) return false;
  return has_any(stored.event.tags, filter.tags);
}

class MemoryTransaction final : public Transaction {
 public:
  MemoryTransaction(MemoryState& state, std::mutex& mutex, TimePoint now)
      : state_(state), lock_(mutex), now_(now) {}
  ~MemoryTransaction() override {
    if (committed_) return;
    restore(events_before_, state_.events);
    restore(results_before_, state_.results);
    restore(log_before_, state_.log);
    restore(keys_before_, state_.keys);
    if (records_before_) state_.records = std::move(*records_before_);
  }
  MemoryTransaction(const MemoryTransaction&) = delete;
  MemoryTransaction& operator=(const MemoryTransaction&) = delete;

  [[nodiscard]] TimePoint now() const override { return now_; }

  Result<void> insert(std::span<Stored> events) override {
    for (Stored& stored : events) {
      stored.event.id =
          static_cast<EventId>(++state_.last_event_id * state_.shard_count + state_.shard_index);
      stored.turn = state_.last_event_id;
      put(stored);
    }
    return {};
  }

  Result<std::optional<EventId>> find(std::string_view event_id) override {
    for (const auto& [id, stored] : state_.events) {
      if (stored.event.event_id == event_id) return std::optional(id);
    }
    return std::optional<EventId>();
  }

  Result<std::optional<KeyRecord>> find_key(std::string_view key) override {
    return found_in(state_.keys, key);
  }

  Result<void> put_key(const KeyRecord& record) override {
    remember(keys_before_, state_.keys, record.key);
    state_.keys.insert_or_assign(record.key, record);
    return {};
  }

  Result<std::size_t> purge_keys(TimePoint created_before, std::size_t limit) override {
    const auto older = [](const auto& a, const auto& b) { return a.second.created_at < b.second.created_at; };
    std::size_t dropped = 0;
    // Searches the oldest key each time, which is slow but needs no index.
    for (; dropped < limit; ++dropped) {
      const auto oldest = std::min_element(state_.keys.begin(), state_.keys.end(), older);
      if (oldest == state_.keys.end() || oldest->second.created_at >= created_before) break;
      remember(keys_before_, state_.keys, oldest->first);
      state_.keys.erase(oldest);
    }
    return dropped;
  }

  Result<std::vector<std::optional<Stored>>> load(std::span<const EventId> ids, EventFields fields) override {
    std::vector<std::optional<Stored>> loaded;
    for (const EventId id : ids) {
      loaded.push_back(found_in(state_.events, id));
      if (loaded.back() && fields == EventFields::state) loaded.back() = state_of(std::move(*loaded.back()));
    }
    return loaded;
  }

  Result<std::vector<LogEntry>> log(EventId id) override { return log_of(state_, id); }

  Result<void> save(std::span<Stored> events) override {
    for (Stored& stored : events) {
      // The caller may have loaded only the state, so the stored envelope is kept.
      Stored whole = state_.events.at(stored.event.id);
      if (stored.guard != whole.guard) return guard_failed(stored.event.id);
      copy_state(stored.event, whole.event);
      set_result(stored.event);
      whole.cause = stored.event.status == Status::failed ? stored.cause : "";
      whole.line = stored.line;
      // Archived events keep no turn; a revived event gets turn = id.
      if (whole.archived) whole.turn = static_cast<std::int64_t>(whole.event.id);
      // A new head gets an unused id as its turn, so it is claimed after all events that are ready now.
      if (whole.line_before == Line::behind && whole.line == Line::head) whole.turn = ++state_.last_event_id;
      put(whole);
      copy_bookkeeping(whole, stored);
    }
    return {};
  }

  Result<void> remove(std::span<const Stored> events) override {
    for (const Stored& stored : events) {
      const EventId id = stored.event.id;
      const auto found = state_.events.find(id);
      if (found == state_.events.end() || !found->second.archived) return guard_failed(stored.event.id);
      if (stored.guard != found->second.guard) return guard_failed(stored.event.id);
      remember(events_before_, state_.events, id);
      state_.events.erase(found);
      remember(results_before_, state_.results, id);
      state_.results.erase(id);
      for (const LogEntry& entry : log_of(state_, id)) {
        remember(log_before_, state_.log, std::pair(id, entry.log_id));
        state_.log.erase({id, entry.log_id});
      }
    }
    return {};
  }

  Result<void> append(std::span<LogEntry> entries) override {
    for (LogEntry& entry : entries) {
      entry.log_id = static_cast<LogId>(++state_.last_log_id);
      const std::pair key(entry.id, entry.log_id);
      remember(log_before_, state_.log, key);
      state_.log.emplace(key, entry);
    }
    return {};
  }

  Result<std::vector<Stored>> promote(std::size_t limit) override {
    std::vector<Stored> promoted;
    for (const auto& [id, stored] : state_.events) {
      const bool waits = !stored.archived && !stored.ready && stored.line != Line::behind;
      if (waits && stored.event.due_at <= now_) promoted.push_back(state_of(stored));
    }
    // Events with the same due time keep the order of their ids.
    std::stable_sort(promoted.begin(), promoted.end(),
                     [](const Stored& a, const Stored& b) { return a.event.due_at < b.event.due_at; });
    promoted.resize(std::min(promoted.size(), limit));
    for (Stored& stored : promoted) {
      remember(events_before_, state_.events, stored.event.id);
      stored.ready = true;
      state_.events.at(stored.event.id).ready = true;
    }
    return promoted;
  }

  Result<std::vector<Stored>> claim(const Selector& selector, std::size_t limit) override {
    std::vector<Stored> found;
    for (const auto& [id, stored] : state_.events) {
      const bool fits = stored.event.queue == selector.queue && has_any(stored.event.tags, selector.tags);
      if (stored.ready && fits) found.push_back(stored);
    }
    std::sort(found.begin(), found.end(), [](const Stored& a, const Stored& b) {
      return std::pair(-a.event.priority, a.turn) < std::pair(-b.event.priority, b.turn);
    });
    cut(found, limit);
    return found;
  }

  Result<std::optional<TimePoint>> next_due() override {
    std::optional<TimePoint> next;
    for (const auto& [id, stored] : state_.events) {
      if (stored.archived || stored.ready || stored.line == Line::behind) continue;
      if (!next || stored.event.due_at < *next) next = stored.event.due_at;
    }
    return next;
  }

  Result<std::optional<Stored>> head_of_line(std::string_view queue, std::string_view key) override {
    return first_in_line(queue, key, Line::head);
  }

  Result<std::optional<Stored>> first_behind(std::string_view queue, std::string_view key) override {
    return first_in_line(queue, key, Line::behind);
  }

  Result<std::vector<EventId>> with_supersede_key(std::string_view queue, std::string_view key) override {
    std::vector<EventId> ids;
    for (const auto& [id, stored] : state_.events) {
      const bool same = stored.event.queue == queue && stored.event.supersede_key == key;
      if (same && stored.event.status == Status::pending) ids.push_back(id);
    }
    return ids;
  }

  Result<Ended> ended(const EndedFilter& filter) override {
    Ended ended;
    std::size_t events_read = 0;
    std::size_t bytes = 0;
    std::optional<EndedCursor> last;
    for (const Stored* stored : in_order_of_end(state_)) {
      if (!is_asked_for(stored->event, filter)) continue;
      // kReplay limits the events that are read, not those that match.
      if (ended.events.size() >= filter.limit || bytes >= kClaimBytes || events_read++ == limits::kReplay) {
        ended.next = last;
        return ended;
      }
      last = EndedCursor{stored->event.updated_at, stored->event.id};
      if (!fits(*stored, filter)) continue;
      bytes += stored->event.payload.size();
      ended.events.push_back(*stored);
    }
    if (events_read == limits::kReplay) ended.next = last;
    return ended;
  }

  Result<std::vector<Stored>> holding_line(std::string_view queue, std::size_t limit) override {
    std::vector<Stored> found;
    for (const auto& [id, stored] : state_.events) {
      const bool holds = stored.archived && stored.line == Line::head && stored.event.queue == queue;
      if (holds && found.size() < limit) found.push_back(state_of(stored));
    }
    return found;
  }

  Result<std::optional<CorrelationRow>> find_correlation(std::string_view id) override {
    return found_in(state_.records.correlations, id);
  }

  Result<std::vector<CorrelatedEnd>> correlated_ends(std::string_view id, EndsLimit limit) override {
    std::vector<CorrelatedEnd> ends;
    std::size_t bytes = 0;
    for (const auto& [event_id, stored] : state_.events) {
      if (!stored.archived || id.empty() || stored.event.correlation_id != id) continue;
      const Event event = with_result(state_, stored.event);
      bytes += event.result.size();
      if (ends.size() == limit.events || bytes > limit.bytes) break;
      ends.push_back({event.id, event.event_id, event.status, event.result});
    }
    return ends;
  }

  Result<void> put_correlation(const CorrelationRow& row) override {
    auto& correlations = change_records().correlations;
    correlations.erase(row.id);
    if (row.kept != 0) correlations.emplace(row.id, row);
    return {};
  }

  // Only readers of a database need them.
  Result<void> put_defaults(const QueueConfig&, const QueueConfig&) override { return {}; }

  Result<void> put_queue(const QueueRow& row) override {
    change_records().queues.insert_or_assign(row.id, row);
    return {};
  }

  Result<void> add_queue(const QueueRow& row) override {
    change_records().queues.emplace(row.id, row);
    return {};
  }

  Result<void> add_totals(std::string_view queue, const Totals& change,
                          std::optional<EventId> last_completed) override {
    QueueTotals& kept = change_records().totals[std::string(queue)];
    kept.totals += change;
    kept.changed_at = std::max(kept.changed_at, now_);
    if (!last_completed) return {};
    if (const auto event = found_in(state_.events, *last_completed))
      kept.checkpoint_id = event->event.event_id;
    return {};
  }

  Result<void> add_failed_in_hour(std::int64_t hour, std::int64_t events) override {
    change_records().failed_by_hour[hour] += events;
    return {};
  }

  Result<void> put_checkpoint(const Checkpoint& checkpoint) override {
    auto& all = change_records().checkpoints;
    all.push_back(checkpoint);
    // Checkpoints of one millisecond are ordered by their count, then by id, as read_checkpoints.sql does.
    std::sort(all.begin(), all.end(), [](const Checkpoint& a, const Checkpoint& b) {
      return std::tie(a.created_at, a.event_count, a.id) < std::tie(b.created_at, b.event_count, b.id);
    });
    const auto is_of_queue = [&](const Checkpoint& other) {
      return other.queue == checkpoint.queue && !other.requested;
    };
    const auto kept = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_of_queue));
    // One was added, so at most one is too many.
    if (kept > kCheckpointsPerQueue) all.erase(std::find_if(all.begin(), all.end(), is_of_queue));
    return {};
  }

  Result<std::int64_t> count_requested(std::string_view queue) override {
    const auto& all = state_.records.checkpoints;
    return std::count_if(all.begin(), all.end(),
                         [&](const Checkpoint& it) { return it.queue == queue && it.requested; });
  }

  Result<std::optional<Checkpoint>> find_checkpoint(std::string_view id) override {
    for (const Checkpoint& checkpoint : state_.records.checkpoints) {
      if (checkpoint.id == id) return std::optional(checkpoint);
    }
    return std::optional<Checkpoint>();
  }

  Result<void> delete_checkpoint(std::string_view id) override {
    std::erase_if(change_records().checkpoints, [&](const Checkpoint& it) { return it.id == id; });
    return {};
  }

  Result<void> remove_queue(std::string_view queue) override {
    MemoryRecords& records = change_records();
    records.queues.erase(std::string(queue));
    records.totals.erase(std::string(queue));
    records.recoveries.erase(std::string(queue));
    std::erase_if(records.checkpoints, [&](const Checkpoint& it) { return it.queue == queue; });
    return {};
  }

  Result<void> append_queue_log(const QueueLogEntry& entry) override {
    auto& log = change_records().queue_log;
    log.insert_or_assign({entry.queue, entry.id}, entry);
    const auto first = log.lower_bound({entry.queue, ""});
    const auto end = log.upper_bound({entry.queue, "~"});  // after every UUID
    if (std::distance(first, end) > static_cast<std::ptrdiff_t>(limits::kQueueLog)) log.erase(first);
    return {};
  }

  Result<void> put_recovery(const Recovery& recovery) override {
    change_records().recoveries.insert_or_assign(recovery.queue, recovery);
    return {};
  }

  Result<void> add_worker(const WorkerRow& change) override {
    const auto [kept, is_new] = change_records().workers.emplace(change.id, change);
    if (!is_new) add_to(kept->second, change);
    return {};
  }

  Result<void> put_ask(const WorkerAsk& ask) override {
    TimePoint& asked_at =
        change_records().asks[{ask.worker_id, ask.selector.queue, join_tags(ask.selector.tags)}];
    asked_at = std::max(asked_at, ask.asked_at);
    return {};
  }

  Result<void> sign_off(std::string_view worker_id) override {
    change_records().sign_offs.insert_or_assign(std::string(worker_id), now_);
    return {};
  }

  Result<void> drop_workers(TimePoint before) override {
    MemoryRecords& records = change_records();
    std::erase_if(records.workers, [&](const auto& it) { return it.second.last_seen < before; });
    std::erase_if(records.asks, [&](const auto& it) { return it.second < before; });
    std::erase_if(records.sign_offs, [&](const auto& it) { return it.second < before; });
    return {};
  }

  Result<void> put_archive_file(const ArchiveFile& file) override {
    change_records().archive_files.insert_or_assign(file.name, file);
    return {};
  }

  Result<std::optional<TimePoint>> oldest_pending(std::string_view queue) override {
    for (const auto& [id, stored] : state_.events) {
      const Event& event = stored.event;
      if (event.queue == queue && event.status == Status::pending) return std::optional(event.created_at);
    }
    return std::optional<TimePoint>();
  }

  // This store counts events on every read, so no counter can be wrong.
  Result<Recalled> recall(std::vector<std::string>& /*unused*/) override {
    Working working = working_of(state_);
    Recalled recalled{.queues = {},
                      .workers = std::move(working.workers),
                      .asks = asks_of(state_),
                      .processing = std::move(working.processing),
                      .checkpoints = {},
                      .failed_by_hour = state_.records.failed_by_hour};
    const TimePoint listed_since = now_ - limits::kWorkerListed;
    std::erase_if(recalled.workers, [&](const WorkerRow& it) { return it.last_seen < listed_since; });
    std::erase_if(recalled.asks, [&](const WorkerAsk& it) { return it.asked_at < listed_since; });
    const auto& all = state_.records.checkpoints;
    for (const auto& [id, row] : state_.records.queues) {
      recalled.queues.push_back(record_of(state_, row));
      const auto last =
          std::find_if(all.rbegin(), all.rend(),
                       [&queue = row.id](const Checkpoint& checkpoint) { return checkpoint.queue == queue; });
      if (last != all.rend()) recalled.checkpoints.push_back(*last);
    }
    return recalled;
  }

  Result<void> commit(DiskSync /*sync*/) override {
    committed_ = true;
    return {};
  }

  Result<void> probe() override { return {}; }

 private:
  void put(Stored& stored) {
    const Event& event = stored.event;
    stored.archived = has_ended(event.status);
    stored.ready = !stored.archived && stored.line != Line::behind && event.due_at <= now_;
    stored.guard = guard_of(event);
    stored.line_before = stored.line;
    remember(events_before_, state_.events, event.id);
    state_.events.insert_or_assign(event.id, stored);
  }

  void set_result(const Event& event) {
    remember(results_before_, state_.results, event.id);
    state_.results.erase(event.id);
    if (has_ended(event.status) && !event.result.empty()) state_.results.emplace(event.id, event.result);
  }

  // The copy is made once per transaction, and only if it changes a record.
  MemoryRecords& change_records() {
    if (!records_before_) records_before_ = state_.records;
    return state_.records;
  }

  std::optional<Stored> first_in_line(std::string_view queue, std::string_view key, Line line) const {
    for (const auto& [id, stored] : state_.events) {
      const bool same = stored.event.queue == queue && stored.event.ordering_key == key;
      if (same && stored.line == line) return state_of(stored);
    }
    return std::nullopt;
  }

  MemoryState& state_;
  const std::scoped_lock<std::mutex> lock_;
  const TimePoint now_;
  bool committed_ = false;
  std::map<EventId, std::optional<Stored>> events_before_;
  std::map<EventId, std::optional<std::string>> results_before_;
  std::map<std::pair<EventId, LogId>, std::optional<LogEntry>> log_before_;
  std::map<std::string, std::optional<KeyRecord>> keys_before_;
  std::optional<MemoryRecords> records_before_;
};

}  // namespace

std::unique_ptr<Transaction> make_transaction(MemoryState& state, std::mutex& mutex, TimePoint now) {
  return std::make_unique<MemoryTransaction>(state, mutex, now);
}

}  // namespace eventq::memory
