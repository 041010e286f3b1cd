// memory_store.cc: see memory_store.h.
#include "store/memory/memory_store.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "model/names.h"

namespace eventq::memory {
namespace {

struct State {
  std::map<EventId, Stored> events;
  std::vector<LogEntry> log;
  std::map<std::string, KeyRecord, std::less<>> keys;
  // The last ids given. They never go back, not even when the transaction does.
  std::int64_t last_event_id = 0;
  std::int64_t last_log_id = 0;
};

bool shares_tag(const Event& event, const std::vector<std::string>& wanted) {
  return std::any_of(event.tags.begin(), event.tags.end(), [&](const std::string& tag) {
    return std::find(wanted.begin(), wanted.end(), tag) != wanted.end();
  });
}

std::vector<LogEntry> log_of(const State& state, EventId id) {
  std::vector<LogEntry> entries;
  std::copy_if(state.log.begin(), state.log.end(), std::back_inserter(entries),
               [&](const LogEntry& entry) { return entry.event_id == id; });
  return entries;
}

Event without_payload(Event event) {
  event.payload.clear();
  event.description.reset();
  return event;
}

Stored head_of(Stored stored) {
  stored.event = without_payload(std::move(stored.event));
  stored.event.title.clear();
  stored.event.event_id.clear();
  stored.event.correlation_id.clear();
  return stored;
}

// The changing part of an event.
void copy_state(const Event& from, Event& to) {
  to.status = from.status;
  to.attempts = from.attempts;
  to.retry_count = from.retry_count;
  to.unreported = from.unreported;
  to.worker_id = from.worker_id;
  to.due_at = from.due_at;
  to.updated_at = from.updated_at;
}

// Remembers how each thing looked before its first change, to put it back.
class MemoryTransaction final : public Transaction {
 public:
  MemoryTransaction(State& state, std::mutex& mutex, TimePoint now)
      : state_(state), lock_(mutex), now_(now), log_size_(state.log.size()) {}

  ~MemoryTransaction() override {
    if (committed_) return;
    for (auto& [id, before] : events_before_) restore(state_.events, id, std::move(before));
    for (auto& [key, before] : keys_before_) restore(state_.keys, key, std::move(before));
    state_.log.resize(log_size_);
  }
  MemoryTransaction(const MemoryTransaction&) = delete;
  MemoryTransaction& operator=(const MemoryTransaction&) = delete;

  TimePoint now() const override { return now_; }

  Result<void> insert(std::span<Stored> events) override {
    for (Stored& stored : events) {
      stored.event.id = static_cast<EventId>(++state_.last_event_id);
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
    const auto found = state_.keys.find(key);
    return found == state_.keys.end() ? std::nullopt : std::optional(found->second);
  }

  Result<void> put_key(const KeyRecord& record) override {
    remember(keys_before_, state_.keys, record.key);
    state_.keys.insert_or_assign(record.key, record);
    return {};
  }

  Result<std::size_t> purge_keys(TimePoint created_before, std::size_t limit) override {
    const auto older = [](const auto& a, const auto& b) { return a.second.created_at < b.second.created_at; };
    std::size_t dropped = 0;
    for (; dropped < limit; ++dropped) {
      const auto oldest = std::min_element(state_.keys.begin(), state_.keys.end(), older);
      if (oldest == state_.keys.end() || oldest->second.created_at >= created_before) break;
      remember(keys_before_, state_.keys, oldest->first);
      state_.keys.erase(oldest);
    }
    return dropped;
  }

  Result<std::vector<std::optional<Stored>>> load(std::span<const EventId> ids, Part part) override {
    std::vector<std::optional<Stored>> loaded;
    for (const EventId id : ids) {
      const auto found = state_.events.find(id);
      if (found == state_.events.end()) {
        loaded.emplace_back();
      } else {
        loaded.emplace_back(part == Part::whole ? found->second : head_of(found->second));
      }
    }
    return loaded;
  }

  Result<std::vector<LogEntry>> log(EventId id) override { return log_of(state_, id); }

  Result<void> save(std::span<Stored> events) override {
    for (Stored& stored : events) {
      Stored whole = state_.events.at(stored.event.id);
      if (stored.guard != whole.guard) {
        return Error{ErrorCode::internal, "An event changed under its own transaction.", ""};
      }
      copy_state(stored.event, whole.event);
      put(whole);
      stored.guard = whole.guard;
      stored.archived = whole.archived;
      stored.ready = whole.ready;
    }
    return {};
  }

  Result<void> append(std::span<LogEntry> entries) override {
    for (LogEntry& entry : entries) {
      entry.id = static_cast<LogId>(++state_.last_log_id);
      state_.log.push_back(entry);
    }
    return {};
  }

  Result<std::vector<Stored>> promote(std::size_t limit) override {
    std::vector<Stored> promoted;
    for (auto& [id, stored] : state_.events) {
      if (stored.archived || stored.ready || stored.event.due_at > now_) continue;
      remember(events_before_, state_.events, id);
      stored.ready = true;
      promoted.push_back(head_of(stored));
    }
    std::stable_sort(promoted.begin(), promoted.end(),
                     [](const Stored& a, const Stored& b) { return a.event.due_at < b.event.due_at; });
    for (std::size_t i = limit; i < promoted.size(); ++i)
      state_.events.at(promoted[i].event.id).ready = false;
    promoted.resize(std::min(promoted.size(), limit));
    return promoted;
  }

  Result<std::vector<Stored>> claim(const Selector& selector, std::size_t limit) override {
    std::vector<Stored> found;
    for (const auto& [id, stored] : state_.events) {
      const bool fits = selector.tags.empty() || shares_tag(stored.event, selector.tags);
      if (stored.ready && stored.event.queue == selector.queue && fits) found.push_back(stored);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Stored& a, const Stored& b) { return a.event.priority > b.event.priority; });
    found.resize(std::min(found.size(), limit));
    std::size_t bytes = 0;
    const auto over = std::find_if(found.begin(), found.end(), [&](const Stored& stored) {
      return std::exchange(bytes, bytes + stored.event.payload.size()) >= kClaimBytes;
    });
    found.erase(over, found.end());
    return found;
  }

  Result<std::optional<TimePoint>> next_due() override {
    std::optional<TimePoint> next;
    for (const auto& [id, stored] : state_.events) {
      if (stored.archived || stored.ready) continue;
      if (!next || stored.event.due_at < *next) next = stored.event.due_at;
    }
    return next;
  }

  Result<void> probe() override { return {}; }

  Result<void> commit() override {
    committed_ = true;
    return {};
  }

 private:
  void put(Stored& stored) {
    const Event& event = stored.event;
    stored.archived = has_ended(event.status);
    stored.ready = !stored.archived && event.due_at <= now_;
    stored.guard = {event.status, event.attempts, event.worker_id};
    remember(events_before_, state_.events, event.id);
    state_.events.insert_or_assign(event.id, stored);
  }

  template <typename Before, typename Map, typename Key>
  static void remember(Before& before, const Map& map, const Key& key) {
    const auto found = map.find(key);
    before.try_emplace(key, found == map.end() ? std::nullopt : std::optional(found->second));
  }

  template <typename Map, typename Key, typename Value>
  static void restore(Map& map, const Key& key, std::optional<Value>&& before) {
    map.erase(key);
    if (before) map.emplace(key, std::move(*before));
  }

  State& state_;
  const std::scoped_lock<std::mutex> lock_;
  const TimePoint now_;
  const std::size_t log_size_;
  bool committed_ = false;
  std::map<EventId, std::optional<Stored>> events_before_;
  std::map<std::string, std::optional<KeyRecord>> keys_before_;
};

class MemoryReader final : public Reader {
 public:
  MemoryReader(const State& state, std::mutex& mutex) : state_(state), mutex_(mutex) {}

  Result<std::optional<Event>> get(EventId id) override {
    const std::scoped_lock lock(mutex_);
    const auto found = state_.events.find(id);
    return found == state_.events.end() ? std::nullopt : std::optional(found->second.event);
  }

  Result<std::vector<LogEntry>> log(EventId id) override {
    const std::scoped_lock lock(mutex_);
    return log_of(state_, id);
  }

  Result<Page> list(const ListFilter& filter) override {
    const std::scoped_lock lock(mutex_);
    Page page;
    std::int64_t skipped = 0;
    for (const auto& [id, stored] : state_.events) {
      if (!matches(stored.event, filter)) continue;
      ++page.total;
      if (id <= filter.after || skipped++ < filter.offset) continue;
      if (page.events.size() < filter.limit) page.events.push_back(without_payload(stored.event));
    }
    return page;
  }

 private:
  static bool matches(const Event& event, const ListFilter& filter) {
    if (filter.status && event.status != *filter.status) return false;
    if (filter.queue && event.queue != *filter.queue) return false;
    if (filter.worker_id && event.worker_id != *filter.worker_id) return false;
    if (filter.correlation_id && event.correlation_id != *filter.correlation_id) return false;
    return filter.tags.empty() || shares_tag(event, filter.tags);
  }

  const State& state_;
  std::mutex& mutex_;
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(const Clock& clock) : clock_(clock) {}

  Result<std::unique_ptr<Transaction>> begin(std::optional<TimePoint> now) override {
    return std::unique_ptr<Transaction>(
        std::make_unique<MemoryTransaction>(state_, mutex_, now.value_or(clock_.now())));
  }
  Result<std::unique_ptr<Reader>> reader() override {
    return std::unique_ptr<Reader>(std::make_unique<MemoryReader>(state_, mutex_));
  }
  Result<void> tidy() override { return {}; }

 private:
  const Clock& clock_;
  std::mutex mutex_;  // a transaction holds it for as long as it lives
  State state_;       // guarded by mutex_
};

}  // namespace

std::unique_ptr<Store> open_store(const Clock& clock) { return std::make_unique<MemoryStore>(clock); }

}  // namespace eventq::memory
