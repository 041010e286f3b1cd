// postgres_store_test.cc: what only the PostgreSQL store promises: it reconnects, several stores share a
// database, and a call that hangs can be ended.
#include "store/postgres/postgres_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "store/conformance/store_conformance.h"
#include "store/postgres/connection.h"
#include "support/describe.h"
#include "support/describe_records.h"
#include "support/postgres_cluster.h"

namespace eventq::postgres {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

QueueRow queue_named(std::string id, QueueConfig config = {}) {
  QueueRow row;
  row.id = std::move(id);
  row.config = config;
  row.created_at = row.updated_at = TimePoint(1s);
  return row;
}

std::vector<std::string> ids_of(const std::vector<QueueRecord>& records) {
  std::vector<std::string> ids;
  for (const QueueRecord& record : records) ids.push_back(record.row.id);
  return ids;
}

class PostgresStoreTest : public testing::Test {
 protected:
  static void commit_with(Store& store, const std::function<void(Transaction&)>& use) {
    const auto transaction = must(store.begin());
    use(*transaction);
    must(transaction->commit());
  }

  static void put(Store& store, const QueueRow& row) {
    commit_with(store, [&](Transaction& transaction) { must(transaction.put_queue(row)); });
  }

  EventId add(Store& store, const std::string& event_id) {
    Stored stored = new_event(event_id, clock_.now());
    commit_with(store, [&](Transaction& transaction) { must(transaction.insert({&stored, 1})); });
    return stored.event.id;
  }

  static std::vector<std::string> announced(Store& store) {
    return ids_of(must(must(store.begin())->changed_queues()).records);
  }

  static std::optional<QueueRecord> current(Store& store, std::string_view queue) {
    return must(must(store.begin())->current(queue));
  }

  QueueDocument read_main() { return must(must(one_->reader())->queue("main", 0)).value(); }

  // Ends every connection to the database except its own.
  void end_connections() {
    const auto connection = must(PgConnection::open(database_.url()));
    must(
        connection->script("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                           "WHERE datname = current_database() AND pid <> pg_backend_pid()"));
  }

  // Returns when a transaction waits for a lock that fits `condition`.
  void wait_for_lock(const std::string& condition) const {
    const auto looker = must(PgConnection::open(database_.url()));
    const std::string waiting =
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = "
        "(SELECT oid FROM pg_database WHERE datname = current_database()) AND " +
        condition;
    while (must(looker->run_one(waiting)).number(0, 0) == 0) {
    }
  }

  const TestDatabase database_;
  ManualClock clock_{TimePoint(1'700'000'000s)};
  // Two servers on one database.
  const std::unique_ptr<PostgresStore> one_ = make_store(database_.url(), {}, &clock_);
  const std::unique_ptr<PostgresStore> other_ = make_store(database_.url(), {}, &clock_);
};

TEST_F(PostgresStoreTest, TheStoreIsShared) { EXPECT_TRUE(one_->shared()); }

TEST_F(PostgresStoreTest, AStoreReconnectsAfterItsIdleConnectionWasEnded) {
  const auto reader = must(one_->reader());
  const EventId before = add(*one_, "before");
  EXPECT_TRUE(must(reader->get(before)));

  end_connections();

  const EventId after = add(*one_, "after");
  EXPECT_TRUE(must(reader->get(before)));
  end_connections();
  EXPECT_TRUE(must(reader->details(after)));
}

TEST_F(PostgresStoreTest, ATransactionWhoseConnectionIsEndedChangesNothing) {
  {
    const auto transaction = must(one_->begin());
    Stored stored = new_event("lost", clock_.now());
    must(transaction->insert({&stored, 1}));
    end_connections();

    const auto committed = transaction->commit();

    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::unavailable);
  }
  EXPECT_FALSE(must(must(one_->begin())->find("lost")));
}

TEST_F(PostgresStoreTest, AnUnreachableDatabaseIsUnavailableAtOnceUntilThePauseIsOver) {
  const auto nowhere = make_store("postgres://nobody@127.0.0.1:1/none", {}, &clock_);
  const auto refused = nowhere->begin();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(nowhere->begin());
  EXPECT_FALSE(must(nowhere->reader())->get(EventId{1}));
}

TEST_F(PostgresStoreTest, AnInterruptedStoreFailsAtOnceAndWorksAgainAfterwards) {
  add(*one_, "before");
  {
    const auto transaction = must(one_->begin());
    one_->interrupt(true);
    const auto found = transaction->find("before");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::unavailable);
  }
  const auto begun = one_->begin();
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::unavailable);
  EXPECT_THAT(begun.error().message, HasSubstr("calls fail until"));

  one_->interrupt(false);
  add(*one_, "after");
}

TEST_F(PostgresStoreTest, AnInterruptEndsACallThatHangs) {
  const auto blocker = must(PgConnection::open(database_.url()));
  must(blocker->script("BEGIN; LOCK TABLE eventq.event_body IN ACCESS EXCLUSIVE MODE"));
  const auto transaction = must(one_->begin());
  const std::jthread rescuer([&] {
    wait_for_lock("relation = 'eventq.event_body'::regclass");
    one_->interrupt(true);
  });

  const auto found = transaction->find("anything");

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::unavailable);
}

TEST_F(PostgresStoreTest, CountersOfTwoStoresSumUpExactly) {
  put(*one_, queue_named("main"));
  for (PostgresStore* store : {one_.get(), other_.get(), one_.get()}) {
    add(*store, "event " + std::to_string(clock_.now().time_since_epoch().count()));
    clock_.advance(1s);
    commit_with(*store, [&](Transaction& transaction) {
      must(transaction.add_totals("main", {.published = 2, .removed = 3}, std::nullopt));
      must(transaction.add_failed_in_hour(472'222, 5));
      must(transaction.add_worker({"w:1", clock_.now(), clock_.now(), 7, 1}));
    });
  }
  std::vector<std::string> repaired;

  const QueueDocument document = read_main();
  const Recalled recalled = must(must(other_->begin())->recall(repaired));

  EXPECT_EQ(describe(document.counts), "PENDING=3");
  EXPECT_EQ(document.totals.published, 6);
  EXPECT_EQ(document.totals.removed, 9);
  EXPECT_EQ(recalled.failed_by_hour.at(472'222), 15);
  EXPECT_EQ(describe(recalled.workers),
            "w:1 first_seen=1700000001000 last_seen=1700000003000 completed=21 failed=3");
  EXPECT_THAT(repaired, IsEmpty());
}

TEST_F(PostgresStoreTest, ConcurrentTransactionsOfTwoStoresAddToTheSameCounters) {
  const auto one = must(one_->begin());
  const auto other = must(other_->begin());
  must(one->add_totals("main", {.published = 1}, std::nullopt));
  must(other->add_totals("main", {.published = 2}, std::nullopt));
  must(one->add_worker({"w:1", clock_.now(), clock_.now(), 1, 0}));
  must(other->add_worker({"w:1", clock_.now(), clock_.now(), 1, 0}));
  must(one->add_queue(queue_named("main")));
  must(other->add_queue(queue_named("main", {.max_retries = 1})));

  must(one->commit());
  must(other->commit());

  EXPECT_EQ(read_main().totals.published, 3);
  EXPECT_EQ(read_main().row.config, QueueConfig());
}

TEST_F(PostgresStoreTest, TheCheckpointIdIsThatOfTheLaterCommit) {
  put(*one_, queue_named("main"));
  const EventId first = add(*one_, "first");
  const EventId second = add(*one_, "second");
  const auto complete = [&](Store& store, EventId id) {
    clock_.advance(1s);
    commit_with(
        store, [&](Transaction& transaction) { must(transaction.add_totals("main", {.completed = 1}, id)); });
    return read_main().checkpoint_id;
  };

  EXPECT_EQ(complete(*one_, second), "second");
  EXPECT_EQ(complete(*other_, first), "first");
  EXPECT_EQ(complete(*one_, second), "second");
  clock_.advance(1s);
  commit_with(*other_, [](Transaction& transaction) {
    must(transaction.add_totals("main", {.published = 1}, std::nullopt));
  });
  EXPECT_EQ(read_main().checkpoint_id, "second");
}

TEST_F(PostgresStoreTest, ChangedQueuesAreThoseThatOtherStoresAddedOrConfigured) {
  put(*one_, queue_named("a"));
  EXPECT_THAT(announced(*other_), ElementsAre("a"));
  EXPECT_THAT(announced(*other_), IsEmpty());

  put(*one_, queue_named("b"));
  put(*one_, queue_named("c"));
  EXPECT_THAT(announced(*other_), ElementsAre("b", "c"));

  put(*one_, queue_named("b", {.max_retries = 1}));
  commit_with(*one_, [](Transaction& transaction) { must(transaction.add_queue(queue_named("c"))); });
  EXPECT_THAT(announced(*other_), ElementsAre("b"));
  EXPECT_THAT(announced(*other_), IsEmpty());
}

TEST_F(PostgresStoreTest, ChangedQueuesNameThoseThatOtherStoresRemoved) {
  put(*one_, queue_named("a"));
  put(*one_, queue_named("b"));
  EXPECT_THAT(announced(*other_), ElementsAre("a", "b"));
  commit_with(*one_, [](Transaction& transaction) { must(transaction.remove_queue("a")); });

  const ChangedQueues changed = must(must(other_->begin())->changed_queues());
  EXPECT_THAT(changed.removed, ElementsAre("a"));
  EXPECT_THAT(changed.records, IsEmpty());
  EXPECT_THAT(must(must(other_->begin())->changed_queues()).removed, IsEmpty());

  put(*one_, queue_named("a"));
  EXPECT_THAT(announced(*other_), ElementsAre("a"));
}

TEST_F(PostgresStoreTest, AnUncommittedQueueIsNotReportedAsChanged) {
  EXPECT_THAT(announced(*other_), IsEmpty());
  {
    const auto transaction = must(one_->begin());
    must(transaction->put_queue(queue_named("a")));
    EXPECT_THAT(announced(*other_), IsEmpty());
  }
  EXPECT_THAT(announced(*other_), IsEmpty());
}

// A queue may be configured while a transaction of another server waits to begin.
TEST_F(PostgresStoreTest, ATransactionThatWaitedForAnAdminTransactionReportsItsChange) {
  const TransactionPlan claims{.claims = {{{"main", {}}, 1}}};
  const TransactionPlan publishes{.inserts = 1, .event_ids = {"event"}};
  put(*other_, queue_named("main"));
  EXPECT_THAT(announced(*one_), ElementsAre("main"));
  for (const TransactionPlan* plan : {&claims, &publishes}) {
    auto admin = must(other_->begin());
    must(admin->plan({.alone = true}));
    must(admin->put_queue(queue_named("main", {.max_retries = plan == &claims ? 1 : 2})));
    std::vector<std::string> changed;
    std::jthread beside([&] {
      const auto transaction = must(one_->begin());
      must(transaction->plan(*plan));
      changed = ids_of(must(transaction->changed_queues()).records);
      must(transaction->claim({"main", {}}, 1));
    });
    wait_for_lock("locktype = 'advisory'");
    must(admin->commit());
    beside.join();

    EXPECT_THAT(changed, ElementsAre("main"));
  }
}

TEST_F(PostgresStoreTest, ATransactionThatCouldNotBeginDoesNotBlockTheNext) {
  add(*one_, "before");
  const auto blocker = must(PgConnection::open(database_.url()));
  must(blocker->script("BEGIN; LOCK TABLE eventq.queue_news IN ACCESS EXCLUSIVE MODE"));
  const std::jthread canceller([&] {
    wait_for_lock("relation = 'eventq.queue_news'::regclass");
    must(blocker->script("SELECT pg_cancel_backend(pid) FROM pg_locks WHERE NOT granted; COMMIT"));
  });
  const auto refused = one_->begin();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);

  add(*one_, "after");
}

TEST_F(PostgresStoreTest, AProbeDoesNotWaitForATransactionThatAddsAQueue) {
  const auto application = must(PgConnection::open(database_.url()));
  must(application->script("BEGIN; SELECT eventq.publish(title => 't', tags => ARRAY['a'], queue => 'new')"));

  commit_with(*one_, [](Transaction& transaction) { must(transaction.probe()); });
}

TEST_F(PostgresStoreTest, ARecalledQueueIsNotReportedAsChanged) {
  put(*one_, queue_named("a"));
  std::vector<std::string> repaired;
  EXPECT_THAT(ids_of(must(must(other_->begin())->recall(repaired)).queues), ElementsAre("a"));

  EXPECT_THAT(announced(*other_), IsEmpty());
}

TEST_F(PostgresStoreTest, CurrentReturnsAQueueAsOthersCommittedIt) {
  put(*one_, queue_named("main"));
  add(*one_, "a");
  commit_with(*one_, [](Transaction& transaction) {
    must(transaction.add_totals("main", {.published = 1}, std::nullopt));
  });

  const auto transaction = must(other_->begin());
  Stored own = new_event("own", clock_.now());
  must(transaction->insert({&own, 1}));
  must(transaction->add_totals("main", {.published = 100}, std::nullopt));
  const auto record = must(transaction->current("main"));

  ASSERT_TRUE(record);
  EXPECT_EQ(describe(record->counts), "PENDING=1");
  EXPECT_EQ(record->totals.published, 1);
  EXPECT_FALSE(must(transaction->current("none")));
}

TEST_F(PostgresStoreTest, CurrentReturnsManyQueuesInOneTransaction) {
  for (const char* queue : {"a", "b", "c"}) put(*one_, queue_named(queue));
  const auto transaction = must(other_->begin());
  for (const char* queue : {"a", "b", "c"}) EXPECT_EQ(must(transaction->current(queue))->row.id, queue);
  EXPECT_FALSE(must(transaction->current("d")));
}

TEST_F(PostgresStoreTest, CurrentReturnsTheLimitedQueuesOfAPlan) {
  put(*one_, queue_named("main"));
  add(*one_, "a");
  const auto transaction = must(other_->begin());
  TransactionPlan plan;
  plan.limited = {"main", "none"};
  must(transaction->plan(plan));

  EXPECT_EQ(describe(must(transaction->current("main"))->counts), "PENDING=1");
  EXPECT_FALSE(must(transaction->current("none")));
}

TEST_F(PostgresStoreTest, TheSizeOfTheStoreIsThatOfTheDatabase) {
  EXPECT_GT(must(one_->sizes()).file_bytes, 1'000'000);
}

}  // namespace
}  // namespace eventq::postgres
