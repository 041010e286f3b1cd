// postgres_claim_test.cc: claims of several stores on one database, with good and bad plans, and their cost.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store/conformance/store_conformance.h"
#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/postgres_transaction.h"
#include "support/manual_clock.h"
#include "support/postgres_cluster.h"

namespace eventq::postgres {
namespace {

using namespace std::chrono_literals;

class PostgresClaimTest : public testing::Test {
 protected:
  static constexpr Transaction::EventFields kHead = Transaction::EventFields::state;

  void run_sql(const std::string& sql) const { must(must(PgConnection::open(database_.url()))->script(sql)); }

  // Applies to every connection that is opened from now on.
  void set_for_all(const std::string& setting, const std::string& value) const {
    run_sql("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET " + setting + " = " + value +
            "', current_database()); END $$");
  }

  [[nodiscard]] std::unique_ptr<PostgresStore> open() const {
    return make_store(database_.url(), {}, &clock_);
  }

  // Events 1 to n, each with the tags "odd" or "even", and "all".
  std::vector<EventId> publish(
      Store& store, int n, const std::function<void(Event&)>& edit = [](Event&) {}) {
    std::vector<Stored> events;
    for (int i = 0; i < n; ++i) {
      events.push_back(new_event("e" + std::to_string(++published_), clock_.now()));
      events.back().event.tags = {published_ % 2 == 0 ? "even" : "odd", "all"};
      edit(events.back().event);
      if (!events.back().event.ordering_key.empty()) events.back().line = Line::head;
    }
    const auto transaction = must(store.begin());
    must(transaction->insert(events));
    must(transaction->commit());
    std::vector<EventId> ids;
    for (const Stored& stored : events) ids.push_back(stored.event.id);
    return ids;
  }

  static std::vector<EventId> claim(Transaction& transaction, const Selector& selector, std::size_t limit) {
    std::vector<EventId> ids;
    for (const Stored& stored : must(transaction.claim(selector, limit))) ids.push_back(stored.event.id);
    return ids;
  }

  // Claims up to `limit` events and completes them. Returns how many.
  std::size_t complete(Store& store, std::size_t limit) {
    const auto transaction = must(store.begin());
    std::vector<Stored> events = must(transaction->claim({"main", {}}, limit));
    for (Stored& stored : events) end(stored.event, Status::completed, clock_.now());
    must(transaction->save(events));
    must(transaction->commit());
    return events.size();
  }

  const TestDatabase database_;
  ManualClock clock_{TimePoint(1'700'000'000s)};
  int published_ = 0;
};

TEST_F(PostgresClaimTest, TwoConcurrentClaimsShareNoEventAndKeepTheOrder) {
  const auto one = open();
  const auto other = open();
  const std::vector<EventId> ids = publish(*one, 100);

  const auto first = must(one->begin());
  const auto second = must(other->begin());

  EXPECT_EQ(claim(*first, {"main", {}}, 30), std::vector(ids.begin(), ids.begin() + 30));
  EXPECT_EQ(claim(*second, {"main", {}}, 30), std::vector(ids.begin() + 30, ids.begin() + 60));
}

TEST_F(PostgresClaimTest, AClaimByTagsSkipsAllEventsThatAnotherHolds) {
  const auto one = open();
  const auto other = open();
  const std::vector<EventId> ids = publish(*one, 2000);

  const auto first = must(one->begin());
  const auto second = must(other->begin());

  EXPECT_EQ(claim(*first, {"main", {"odd", "even"}}, 1998).size(), 1998U);
  EXPECT_EQ(claim(*second, {"main", {"odd", "even"}}, 5), std::vector(ids.end() - 2, ids.end()));
}

TEST_F(PostgresClaimTest, EventsOfARolledBackClaimCanBeClaimedAgain) {
  const auto one = open();
  const auto other = open();
  const std::vector<EventId> ids = publish(*one, 3);

  claim(*must(one->begin()), {"main", {}}, 3);

  EXPECT_EQ(claim(*must(other->begin()), {"main", {}}, 3), ids);
}

TEST_F(PostgresClaimTest, AnEventThatAnotherClaimedAndCommittedMeanwhileIsNotClaimedAgain) {
  const auto one = open();
  const auto other = open();
  publish(*one, 10);
  const auto begun = must(one->begin());

  EXPECT_EQ(complete(*other, 4), 4U);

  EXPECT_EQ(claim(*begun, {"main", {}}, 10).size(), 6U);
}

TEST_F(PostgresClaimTest, RowsThatWereChangedWithoutALockFailTheTransactionAndAreNamed) {
  const auto store = open();
  publish(*store, 1);
  run_sql("DELETE FROM eventq.event_ready WHERE tag = 'all'");
  const auto transaction = must(store->begin());
  std::vector<Stored> claimed = must(transaction->claim({"main", {}}, 1));
  hold(claimed.at(0).event, "w:1", clock_.now() + 60s);
  must(transaction->save(claimed));

  const auto committed = transaction->commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::internal);
  EXPECT_EQ(committed.error().message,
            "The database reported an error: only 2 of 3 rows were as this transaction knew them; nothing "
            "was changed "
            "(EQ500).");
}

struct BadPlan {
  std::string name;
  std::vector<std::string> off;  // planner methods that are switched off

  friend void PrintTo(const BadPlan& plan, std::ostream* out) { *out << plan.name; }
};

class PostgresBadPlanTest : public PostgresClaimTest, public testing::WithParamInterface<BadPlan> {};

TEST_P(PostgresBadPlanTest, AClaimLocksExactlyWhatItAskedForWithStaleStatistics) {
  run_sql("ANALYZE");  // while the tables are empty
  for (const std::string& kind : GetParam().off) set_for_all("enable_" + kind, "off");
  const auto one = open();
  const auto other = open();
  constexpr std::size_t kEvents = 600;
  publish(*one, kEvents);

  for (const std::vector<std::string>& tags :
       {std::vector<std::string>{}, {"all"}, {"odd", "even"}, {"odd", "even", "all"}}) {
    const auto first = must(one->begin());
    const auto second = must(other->begin());
    EXPECT_EQ(claim(*first, {"main", tags}, 10).size(), 10U);
    EXPECT_EQ(claim(*second, {"main", tags}, 2 * kEvents).size(), kEvents - 10);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Plans, PostgresBadPlanTest,
    testing::Values(BadPlan{"AsUsual", {}}, BadPlan{"WithoutNestedLoops", {"nestloop"}},
                    BadPlan{"WithoutIndexes", {"indexscan", "indexonlyscan"}},
                    BadPlan{"WithoutSorts", {"sort", "incremental_sort", "hashagg"}},
                    BadPlan{"WithoutAny", {"nestloop", "indexscan", "indexonlyscan", "material", "sort"}}),
    [](const auto& tested) { return tested.param.name; });

// Claimed and ended events stay in the indexes for as long as an older snapshot is open.
TEST_F(PostgresClaimTest, EveryEventIsClaimedOnceWhileAnOldSnapshotIsOpen) {
  const auto store = open();
  const auto watcher = must(PgConnection::open(database_.url()));
  must(watcher->script("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM eventq.event_queue"));

  for (int round = 0; round < 20; ++round) {
    publish(*store, 500);
    EXPECT_EQ(complete(*store, 250), 250U);
    EXPECT_EQ(complete(*store, 1000), 250U);
    EXPECT_EQ(complete(*store, 1000), 0U);
  }
}

TEST_F(PostgresClaimTest, AnEventOfHigherPriorityIsClaimedFirstWhicheverStorePublishedIt) {
  const auto one = open();
  const auto other = open();
  publish(*one, 10);
  complete(*one, 5);
  const EventId urgent = publish(*other, 1, [](Event& event) { event.priority = 5; }).front();

  EXPECT_EQ(claim(*must(one->begin()), {"main", {}}, 1), std::vector{urgent});
}

class PostgresRoundTripTest : public PostgresClaimTest {
 protected:
  PostgresRoundTripTest() {
    session_.connection = must(PgConnection::open(database_.url()));
    session_.clock = &clock_;
  }
  std::unique_ptr<Transaction> begin() { return must(PostgresTransaction::begin(session_, std::nullopt)); }
  std::unique_ptr<Transaction> begin(const TransactionPlan& plan) {
    return must(PostgresTransaction::begin(session_, std::nullopt, &plan));
  }
  [[nodiscard]] std::size_t round_trips() const { return session_.connection->round_trips(); }

  // Publishes 2 * `n` events. A worker holds the first half; returns their ids.
  std::vector<EventId> publish_and_hold(
      int n, const std::function<void(Event&)>& edit = [](Event&) {}) {
    const auto store = open();
    publish(*store, 2 * n, edit);
    const auto transaction = must(store->begin());
    std::vector<Stored> events = must(transaction->claim({"main", {}}, static_cast<std::size_t>(n)));
    std::vector<EventId> held;
    for (Stored& stored : events) {
      hold(stored.event, "w:1", clock_.now() + 60s);
      held.push_back(stored.event.id);
    }
    must(transaction->save(events));
    must(transaction->commit());
    return held;
  }

  // As publish_and_hold(), but the second event is in a line.
  std::vector<EventId> publish_and_hold_one_in_line(int n) {
    return publish_and_hold(n, [this](Event& event) {
      if (published_ == 2) event.ordering_key = "line";
    });
  }

  // The first write of a connection reads the schema's row types, which is a round trip more.
  void write_first(EventId id) {
    const auto first = begin();
    must(first->put_key({"first", "print", {id}, clock_.now()}));
    must(first->commit());
  }

  // Claims one event for a worker.
  void take(Transaction& transaction) {
    std::vector<Stored> claimed = must(transaction.claim({"main", {}}, 1));
    ASSERT_EQ(claimed.size(), 1U);
    hold(claimed.front().event, "w:2", clock_.now() + 60s);
    must(transaction.save(claimed));
    LogEntry entry = new_entry(claimed.front().event.id, Action::picked);
    must(transaction.append({&entry, 1}));
  }

  void complete(Transaction& transaction, Stored stored) {
    end(stored.event, Status::completed, clock_.now());
    stored.line = Line::none;
    must(transaction.save({&stored, 1}));
    LogEntry entry = new_entry(stored.event.id, Action::completed);
    must(transaction.append({&entry, 1}));
  }

  static TransactionPlan plan_for(int n) {
    TransactionPlan plan;
    plan.inserts = static_cast<std::size_t>(n);
    plan.claims = {{Selector{"main", {}}, static_cast<std::size_t>(n)}};
    for (int i = 0; i < n; ++i) {
      const std::string key = std::to_string(i);
      plan.event_ids.push_back("new " + key);
      plan.keys.push_back(key);
      plan.lines.emplace_back("main", key);
      plan.superseded.emplace_back("main", key);
      plan.correlations.push_back(key);
    }
    return plan;
  }

  StoreSession session_;
};

// A batch as the queue sends it: publications with keys of all kinds, then reports, then claims, then the
// next due time.
TEST_F(PostgresRoundTripTest, ABatchOfSixtyFourOfEachTakesThreeRoundTrips) {
  constexpr int kEach = 64;
  const std::vector<EventId> held = publish_and_hold(
      kEach, [this](Event& event) { event.ordering_key = "line " + std::to_string(published_); });
  write_first(held.front());
  TransactionPlan plan = plan_for(kEach);
  plan.changes = held;
  const std::size_t before = round_trips();

  const auto transaction = begin(plan);
  for (int i = 0; i < kEach; ++i) {
    const std::string key = std::to_string(i);
    EXPECT_EQ(must(transaction->find_key(key)), std::nullopt);
    EXPECT_EQ(must(transaction->find("new " + key)), std::nullopt);
    EXPECT_FALSE(must(transaction->head_of_line("main", key)));
    Stored stored = new_event("new " + key, clock_.now());
    stored.event.ordering_key = stored.event.supersede_key = stored.event.correlation_id = key;
    stored.line = Line::head;
    must(transaction->insert({&stored, 1}));
    EXPECT_EQ(must(transaction->with_supersede_key("main", key)).size(), 1U);
    EXPECT_FALSE(must(transaction->find_correlation(key)));
    must(transaction->put_correlation({.id = key, .total = 1, .pending = 1, .kept = 1}));
    must(transaction->put_key({key, "print", {stored.event.id}, clock_.now()}));
  }
  for (const std::optional<Stored>& loaded : must(transaction->load(held, kHead))) {
    complete(*transaction, loaded.value());
    EXPECT_FALSE(must(transaction->head_of_line("main", loaded->event.ordering_key)));
    EXPECT_FALSE(must(transaction->first_behind("main", loaded->event.ordering_key)));
  }
  for (int i = 0; i < kEach; ++i) take(*transaction);
  EXPECT_EQ(must(transaction->next_due_by(clock_.now() + 90s)), clock_.now() + 60s);
  must(transaction->commit());

  EXPECT_EQ(round_trips() - before, 3U);
}

TEST_F(PostgresRoundTripTest, ABatchThatNamesNothingTakesTwoRoundTrips) {
  constexpr int kEach = 64;
  const std::vector<EventId> held = publish_and_hold(kEach);
  write_first(held.front());
  TransactionPlan plan;
  plan.inserts = kEach;
  plan.claims = {{Selector{"main", {}}, kEach}};
  plan.changes = held;
  const std::size_t before = round_trips();

  const auto transaction = begin(plan);
  for (int i = 0; i < kEach; ++i) {
    Stored stored = new_event("new " + std::to_string(i), clock_.now());
    must(transaction->insert({&stored, 1}));
  }
  for (const std::optional<Stored>& loaded : must(transaction->load(held, kHead))) {
    complete(*transaction, loaded.value());
  }
  for (int i = 0; i < kEach; ++i) take(*transaction);
  EXPECT_EQ(must(transaction->next_due_by(std::nullopt)), clock_.now() + 60s);
  must(transaction->commit());

  EXPECT_EQ(round_trips() - before, 2U);
}

// Never wait for a key lock while holding claimed rows: that can deadlock.
TEST_F(PostgresRoundTripTest, APlanClaimsEventsOnlyIfNoLockIsWaitedForAfterwards) {
  constexpr std::size_t kReady = 2;
  const std::vector<EventId> held = publish_and_hold_one_in_line(kReady);
  const auto others_find = [this] { return claim(*must(open()->begin()), {"main", {}}, 100).size(); };
  TransactionPlan claims;
  claims.claims = {{Selector{"main", {}}, 100}};
  struct Row {
    const char* what;
    std::function<void(TransactionPlan&)> edit;
    bool at_once;
  };
  const Row rows[] = {
      {"nothing else", [](TransactionPlan&) {}, true},
      {"a change of an event that names nothing", [&](TransactionPlan& plan) { plan.changes = {held[0]}; },
       true},
      {"a change of one that does", [&](TransactionPlan& plan) { plan.changes = held; }, false},
      {"something is due", [](TransactionPlan& plan) { plan.due = true; }, false},
  };
  for (const Row& row : rows) {
    session_.plain_from = {};
    TransactionPlan plan = claims;
    row.edit(plan);
    const auto transaction = begin(plan);
    EXPECT_EQ(others_find(), row.at_once ? 0 : kReady) << row.what;
    EXPECT_EQ(claim(*transaction, {"main", {}}, 100).size(), kReady) << row.what;
  }
}

TEST_F(PostgresRoundTripTest, AChangeOfAnEventThatIsNotPlainRestartsTheTransactionOnce) {
  const std::vector<EventId> held = publish_and_hold_one_in_line(3);
  const EventId named = held[1];
  const EventId ended = held[2];
  {
    const auto transaction = begin();
    complete(*transaction, must(transaction->load({&ended, 1}, kHead)).front().value());
    must(transaction->commit());
  }
  for (const EventId id : {named, ended}) {
    session_.plain_from = {};
    TransactionPlan plan;
    plan.changes = {held[0], id};
    for (const std::size_t trips : {2U, 1U}) {
      const std::size_t before = round_trips();
      const auto transaction = begin(plan);
      const auto loaded = must(transaction->load(plan.changes, kHead));
      EXPECT_EQ(loaded[0]->event.status, Status::processing);
      EXPECT_EQ(loaded[1]->archived, id == ended);
      EXPECT_EQ(round_trips() - before, trips);
    }
  }
  session_.plain_from = {};
  TransactionPlan removal;
  removal.changes = {ended};
  removal.ended = true;
  const std::size_t before = round_trips();
  const auto transaction = begin(removal);
  EXPECT_TRUE(must(transaction->load({&ended, 1}, kHead)).front()->archived);
  EXPECT_EQ(round_trips() - before, 1U);
}

TEST_F(PostgresRoundTripTest, ASecondPlanRestartsWithTheSameTimeAndTheSameIds) {
  const std::vector<EventId> held = publish_and_hold(2);
  TransactionPlan plan;
  plan.inserts = 1;
  plan.changes = {held[0]};
  const auto transaction = begin(plan);
  const TimePoint began = transaction->now();
  clock_.advance(1min);

  plan.changes = {held[1]};
  plan.alone = true;
  const std::size_t before = round_trips();
  must(transaction->plan(plan));
  EXPECT_EQ(round_trips() - before, 1U);

  EXPECT_EQ(transaction->now(), began);
  Stored stored = new_event("new", began);
  must(transaction->insert({&stored, 1}));
  // The two events that no worker holds come after held[1], and no id is skipped after those.
  EXPECT_EQ(static_cast<std::int64_t>(stored.event.id), static_cast<std::int64_t>(held[1]) + 3);
  EXPECT_EQ(must(transaction->load({&held[1], 1}, kHead)).at(0)->event.status, Status::processing);
  EXPECT_EQ(round_trips() - before, 1U);
  must(transaction->commit());
}

// Ids in a line ascend in the order in which transactions locked it, and the first plan locked no line.
TEST_F(PostgresRoundTripTest, ASecondPlanThatNamesALineDrawsNewIds) {
  TransactionPlan plan;
  plan.inserts = 1;
  const auto transaction = begin(plan);
  const auto store = open();
  const EventId other = publish(*store, 1, [](Event& event) { event.ordering_key = "line"; }).front();

  plan.lines = {{"main", "line"}};
  must(transaction->plan(plan));
  Stored stored = new_event("new", clock_.now());
  must(transaction->insert({&stored, 1}));
  EXPECT_GT(stored.event.id, other);
}

// All connections share the database's lock table, which has space for some thousand locks.
TEST_F(PostgresRoundTripTest, ATransactionLocksNoMoreNamesThanTheLimit) {
  const auto looker = must(PgConnection::open(database_.url()));
  int keys = 0;
  TransactionPlan plan;
  plan.changes = publish(*open(), 333, [&](Event& event) {
    event.ordering_key = event.supersede_key = event.correlation_id = "key " + std::to_string(++keys);
  });
  for (const std::int64_t locked : {1000, 0}) {
    plan.changes.push_back(publish(*open(), 1, [&](Event& event) {
                             event.correlation_id = "alone " + std::to_string(locked);
                           }).front());
    const auto transaction = begin();
    must(transaction->plan(plan));
    const auto names = must(
        looker->run_one("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 25969 "
                        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"));
    EXPECT_EQ(names.number(0, 0), locked);
  }
}

TEST_F(PostgresRoundTripTest, ASessionRemembersNoMoreSelectorsThanTheLimit) {
  publish(*open(), 1);
  const auto transaction = begin();
  std::size_t most = 0;
  for (std::size_t i = 0; i <= StoreSession::kClaimStartsMax; ++i) {
    EXPECT_EQ(claim(*transaction, {"main", {"tag-" + std::to_string(i)}}, 1).size(), 0U);
    most = std::max(most, session_.claim_starts.size());
  }

  EXPECT_EQ(most, StoreSession::kClaimStartsMax);
  EXPECT_EQ(session_.claim_starts.size(), 1U);
  EXPECT_EQ(claim(*transaction, {"main", {}}, 1).size(), 1U);
}

TEST_F(PostgresRoundTripTest, ATransactionClaimsWhatItPublishedWithoutARoundTrip) {
  const auto transaction = begin();
  must(transaction->plan({.inserts = 2, .claims = {{Selector{"main", {}}, 2}}}));
  EXPECT_EQ(claim(*transaction, {"main", {}}, 1).size(), 0U);
  const std::size_t before = round_trips();

  std::vector<Stored> events{new_event("a", clock_.now()), new_event("b", clock_.now())};
  events[1].event.priority = 1;
  must(transaction->insert(events));

  EXPECT_EQ(claim(*transaction, {"main", {}}, 5), (std::vector{events[1].event.id, events[0].event.id}));
  EXPECT_EQ(round_trips() - before, 0U);
}

// As if an old snapshot made scans from the start slow.
TEST_F(PostgresRoundTripTest, AScanThatBeginsLaterFindsAnEarlierEventOfItsOwnTransaction) {
  session_.claim_starts[{"main", {"email"}}] = {
      .first = ReadyCursor{0, 1'000'000},
      .full_scans = {.slow = FullScans::kSlowMax, .next = steady_now() + std::chrono::hours(1)}};
  const auto transaction = begin();
  Stored stored = new_event("a", clock_.now());
  must(transaction->insert({&stored, 1}));
  must(transaction->next_due());  // flushes the event

  EXPECT_EQ(claim(*transaction, {"main", {"email"}}, 2), std::vector{stored.event.id});
}

TEST_F(PostgresRoundTripTest, ScansAreSlowOnlyBecauseOfEntriesThatAnOldSnapshotKeeps) {
  const std::vector<Selector> selectors{{"main", {}}, {"main", {"all"}}, {"main", {"odd", "even"}}};
  const auto slow_scans = [&] {
    const auto transaction = begin();
    for (int i = 0; i < FullScans::kSlowMax; ++i) must(transaction->next_due());
    std::vector<int> slow{session_.due_start.full_scans.slow};
    for (const Selector& selector : selectors) {
      for (int i = 0; i < FullScans::kSlowMax; ++i) claim(*begin(), selector, 1);
      slow.push_back(session_.claim_starts.at({selector.queue, selector.tags}).full_scans.slow);
    }
    return slow;
  };
  const auto store = open();
  publish(*store, 3000);
  EXPECT_EQ(slow_scans(), std::vector({0, 0, 0, 0}));

  const auto watcher = must(PgConnection::open(database_.url()));
  must(watcher->script("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM eventq.event_queue"));
  run_sql("UPDATE eventq.event_queue SET ready = 0");
  run_sql("UPDATE eventq.event_queue SET ready = 1");
  EXPECT_EQ(PostgresClaimTest::complete(*store, 1000), 1000U);
  EXPECT_EQ(PostgresClaimTest::complete(*store, 1000), 1000U);

  EXPECT_EQ(slow_scans(), std::vector({3, 3, 3, 3}));
}

TEST(FullScans, ScansBeginLaterAfterThreeInARowThatReadAThousandDeadEntries) {
  const SteadyTime now{};
  FullScans scans;
  for (const int dead : {1000, 1000, 999, 1000, 1000}) scans.note(dead, 0, now);
  EXPECT_TRUE(scans.allowed(now));

  scans.note(1000, 0, now);

  EXPECT_FALSE(scans.allowed(now + std::chrono::microseconds(4999)));
  EXPECT_TRUE(scans.allowed(now + std::chrono::microseconds(5000)));
}

TEST(FullScans, AScanFromTheStartIsDueAfterASecondHoweverManyEntriesAreDead) {
  const SteadyTime now{};
  FullScans scans;
  for (int i = 0; i < 3; ++i) scans.note(1'000'000'000, 0, now);

  EXPECT_FALSE(scans.allowed(now + Millis(999)));
  EXPECT_TRUE(scans.allowed(now + Millis(1000)));
}

TEST(FullScans, AScanThatFoundManyEventsMayReadMoreDeadEntries) {
  const SteadyTime now{};
  FullScans scans;
  for (int i = 0; i < 3; ++i) scans.note(2999, 100, now);
  EXPECT_TRUE(scans.allowed(now));

  for (int i = 0; i < 3; ++i) scans.note(3000, 100, now);
  EXPECT_FALSE(scans.allowed(now));
}

TEST_F(PostgresRoundTripTest, AnEmptyTransactionTakesTwoRoundTrips) {
  const std::size_t before = round_trips();

  const auto transaction = begin();
  must(transaction->plan({}));
  must(transaction->commit());

  EXPECT_EQ(round_trips() - before, 2U);
}

}  // namespace
}  // namespace eventq::postgres
