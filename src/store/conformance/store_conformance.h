// store_conformance.h: the fixture of the test suite that every store must pass.
//
// The tests are in this folder, one file per topic. store_conformance_test.cc lists the stores.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "model/names.h"
#include "store/store.h"
#include "support/manual_clock.h"

namespace eventq {

// A place for a store of one kind. The destructor deletes all its data.
class StoreLocation {
 public:
  virtual ~StoreLocation() = default;
  virtual std::unique_ptr<Store> open(const Clock& clock) = 0;
};

struct StoreKind {
  std::string name;
  std::unique_ptr<StoreLocation> (*make)();

  friend void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }
};

// The value of a result. On an error, prints its message and aborts the test program.
template <typename T>
T must(Result<T> result) {
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return std::move(*result);
}

inline void must(Result<void> result) { ASSERT_TRUE(result) << result.error().message; }

// A pending event, due at `due_at`, that is in no store yet.
inline Stored new_event(std::string event_id, TimePoint due_at) {
  Stored stored;
  stored.event.event_id = std::move(event_id);
  stored.event.queue = "main";
  stored.event.title = "mail";
  stored.event.tags = {"email"};
  stored.event.payload = "{}";
  stored.event.max_retries = 3;
  stored.event.created_at = due_at;
  stored.event.due_at = due_at;
  stored.event.updated_at = due_at;
  return stored;
}

// A log entry with only the required fields, that is in no store yet.
inline LogEntry new_entry(EventId id, Action action, std::string worker_id = "w:1") {
  LogEntry entry;
  entry.id = id;
  entry.attempt = 1;
  entry.worker_id = std::move(worker_id);
  entry.action = action;
  return entry;
}

// Change an event as the lifecycle would.
inline void hold(Event& event, std::string worker_id, TimePoint lease_until) {
  event.status = Status::processing;
  event.attempts += 1;
  event.unreported += 1;
  event.worker_id = std::move(worker_id);
  event.due_at = lease_until;
}

inline void end(Event& event, Status status, TimePoint now) {
  event.status = status;
  event.due_at = now;
  event.updated_at = now;
}

inline void requeue(Event& event, TimePoint due_at) {
  event.status = Status::pending;
  event.worker_id.clear();
  event.due_at = due_at;
}

// The clock of a test, which time can be made to pass by reading it. So a scan reaches its time limit without
// real time.
class SteppingClock final : public Clock {
 public:
  explicit SteppingClock(ManualClock& clock) : clock_(clock) {}

  [[nodiscard]] TimePoint now() const override {
    clock_.advance(step_);
    return clock_.now();
  }

  void advance_on_read(Millis step) { step_ = step; }

 private:
  ManualClock& clock_;
  Millis step_{0};
};

class StoreConformance : public testing::TestWithParam<StoreKind> {
 protected:
  static constexpr TimePoint kStart{std::chrono::seconds(1'700'000'000)};

  StoreConformance()
      : location_(GetParam().make()),
        store_(location_->open(store_clock_)),
        reader_(must(store_->reader())) {}

  ManualClock& clock() { return clock_; }
  // From now on the store's clock advances with each read of it.
  void advance_on_read(Millis step) { store_clock_.advance_on_read(step); }
  TimePoint now() const { return clock_.now(); }
  Store& store() { return *store_; }
  // REQUIRES: this thread has no open transaction, because the store in memory would deadlock.
  Reader& reader() { return *reader_; }

  std::unique_ptr<Transaction> begin() { return must(store_->begin()); }
  // Also destroys the transaction, so that the next one can begin.
  static void commit(std::unique_ptr<Transaction>& transaction) {
    must(transaction->commit());
    transaction.reset();
  }

  static Stored load(Transaction& transaction, EventId id,
                     Transaction::EventFields fields = Transaction::EventFields::state) {
    std::vector<std::optional<Stored>> loaded = must(transaction.load({{id}}, fields));
    EXPECT_EQ(loaded.size(), 1U);
    EXPECT_TRUE(loaded.at(0).has_value());
    return loaded.at(0).value_or(Stored());
  }

  // Each of these functions runs its own transaction.
  EventId add(Stored stored) {
    const auto transaction = begin();
    must(transaction->insert({&stored, 1}));
    must(transaction->commit());
    names_[stored.event.id] = stored.event.event_id;
    return stored.event.id;
  }

  EventId add(
      const std::string& event_id, const std::function<void(Event&)>& edit = [](Event&) {}) {
    Stored stored = new_event(event_id, now());
    edit(stored.event);
    return add(std::move(stored));
  }

  void change(EventId id, const std::function<void(Event&)>& edit) {
    change_stored(id, [&](Stored& stored) { edit(stored.event); });
  }

  void change_stored(EventId id, const std::function<void(Stored&)>& edit) {
    const auto transaction = begin();
    Stored stored = load(*transaction, id);
    edit(stored);
    must(transaction->save({&stored, 1}));
    must(transaction->commit());
  }

  // Adds an event with the ordering_key "key" at this place in line.
  EventId add_in_line(
      const std::string& event_id, Line line, const std::function<void(Event&)>& edit = [](Event&) {}) {
    Stored stored = new_event(event_id, now());
    stored.event.ordering_key = "key";
    stored.line = line;
    edit(stored.event);
    return add(std::move(stored));
  }

  void move_to(Line line, EventId id) {
    change_stored(id, [&](Stored& stored) { stored.line = line; });
  }

  // Changes an event, which keeps its place in line.
  void fail_as(EventId id, const std::string& cause) {
    change_stored(id, [&](Stored& stored) {
      end(stored.event, Status::failed, now());
      stored.cause = cause;
    });
  }

  void commit_with(const std::function<void(Transaction&)>& use) {
    const auto transaction = begin();
    use(*transaction);
    must(transaction->commit());
  }

  // Ends an event, which leaves its line.
  void end_as(EventId id, Status status) {
    change_stored(id, [&](Stored& stored) {
      end(stored.event, status, now());
      stored.line = Line::none;
    });
  }

  void append(LogEntry entry) {
    const auto transaction = begin();
    must(transaction->append({&entry, 1}));
    must(transaction->commit());
  }

  // The event_ids that a claim returns, in order: "a b c".
  std::string claimable(Transaction& transaction, const Selector& selector, std::size_t limit = 100) {
    return names(must(transaction.claim(selector, limit)));
  }
  std::string claimable(const Selector& selector = {"main", {}}, std::size_t limit = 100) {
    return claimable(*begin(), selector, limit);
  }

  // The event_ids of events that add() inserted.
  std::string name_of_event(const std::optional<Stored>& stored) const {
    return stored ? names_.at(stored->event.id) : "nobody";
  }
  std::string names(const std::vector<EventId>& all) const {
    std::string joined;
    for (const EventId id : all) joined += (joined.empty() ? "" : " ") + names_.at(id);
    return joined;
  }
  std::string names(const std::vector<Stored>& all) const {
    std::string joined;
    for (const Stored& stored : all) joined += (joined.empty() ? "" : " ") + names_.at(stored.event.id);
    return joined;
  }
  static std::string names(const std::vector<Event>& all) {
    std::string joined;
    for (const Event& event : all) joined += (joined.empty() ? "" : " ") + event.event_id;
    return joined;
  }

  // Adds the events a to k, with ids 1 to 11, that differ in every field that a list can filter by.
  void add_a_to_k() {
    using std::chrono::seconds;
    const auto finish = [&](const std::string& name, Status status, const std::string& worker_id) {
      const EventId id = add(name, [](Event& event) { event.tags = {"y", "z"}; });
      change(id, [&](Event& event) {
        event.worker_id = worker_id;
        end(event, status, now());
      });
    };
    add("a", [](Event& event) { event.tags = {"x"}; });
    add("b", [](Event& event) { event.tags = {"x", "y"}; });
    add("c", [](Event& event) { event.correlation_id = "corr"; });
    add("d", [](Event& event) { event.queue = "other"; });
    change(add("e"), [&](Event& event) { hold(event, "w:1", now() + seconds(60)); });
    change(add("f"), [&](Event& event) { hold(event, "w:2", now() + seconds(60)); });
    finish("g", Status::completed, "w:1");
    finish("h", Status::completed_with_errors, "w:1");
    finish("i", Status::failed, "w:2");
    finish("j", Status::cancelled, "");
    finish("k", Status::superseded, "");
  }

  // "a b c of 11"; "of 11 or more" where the total is a lower bound.
  std::string listed(const ListFilter& filter) {
    const EventPage page = must(reader().list(filter));
    return names(page.events) + " of " + std::to_string(page.total) + (page.total_exact ? "" : " or more");
  }

  // "PENDING=2 FAILED=1 of 3": the totals by status, without zeros, and the total of all.
  std::string totals(const std::optional<std::string>& queue = {}) {
    std::string text;
    for (const Status status :
         {Status::pending, Status::processing, Status::completed, Status::completed_with_errors,
          Status::failed, Status::superseded, Status::cancelled}) {
      const std::int64_t total = must(reader().list({.status = status, .queue = queue, .limit = 0})).total;
      if (total != 0) text += std::string(name_of(status)) + "=" + std::to_string(total) + " ";
    }
    return text + "of " + std::to_string(must(reader().list({.queue = queue, .limit = 0})).total);
  }

  // "PENDING 0 - live ready": the guard (status, attempts, holder), and where the event is stored.
  static std::string stored_as(const Stored& stored) {
    const std::string& worker_id = stored.guard.worker_id;
    return std::string(name_of(stored.guard.status)) + " " + std::to_string(stored.guard.attempts) + " " +
           (worker_id.empty() ? "-" : worker_id) + (stored.archived ? " archived" : " live") +
           (stored.ready ? " ready" : "");
  }

 private:
  ManualClock clock_{kStart};
  SteppingClock store_clock_{clock_};
  std::unique_ptr<StoreLocation> location_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Reader> reader_;
  std::map<EventId, std::string> names_;
};

}  // namespace eventq
