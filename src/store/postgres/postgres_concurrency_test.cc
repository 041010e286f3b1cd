// postgres_concurrency_test.cc: concurrent transactions of several stores on the same keys: exact results and
// no deadlocks.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "store/conformance/store_conformance.h"
#include "store/postgres/postgres_store.h"
#include "support/manual_clock.h"
#include "support/postgres_cluster.h"

namespace eventq::postgres {
namespace {

using namespace std::chrono_literals;

class PostgresConcurrencyTest : public testing::Test {
 protected:
  static constexpr int kStores = 4;

  [[nodiscard]] std::unique_ptr<PostgresStore> open() const {
    return make_store(database_.url(), {}, &clock_);
  }

  // Calls `use` with a store and its number, on one thread per store.
  void at_once(const std::function<void(Store&, int)>& use) const {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kStores; ++i) {
      threads.emplace_back([&, i] {
        const auto store = open();
        use(*store, i);
      });
    }
  }

  [[nodiscard]] Stored event_named(const std::string& event_id) const {
    return new_event(event_id, clock_.now());
  }

  const TestDatabase database_;
  const ManualClock clock_{TimePoint(1'700'000'000s)};
};

TEST_F(PostgresConcurrencyTest, ALineHasOneHeadAndItsOtherEventsAreInOrderOfId) {
  constexpr int kEach = 50;
  at_once([&](Store& store, int number) {
    for (int i = 0; i < kEach; ++i) {
      const auto transaction = must(store.begin());
      must(transaction->plan({.inserts = 1, .lines = {{"main", "key"}}}));
      Stored stored = event_named(std::to_string(number) + " " + std::to_string(i));
      stored.event.ordering_key = "key";
      stored.line = must(transaction->head_of_line("main", "key")) ? Line::behind : Line::head;
      must(transaction->insert({&stored, 1}));
      must(transaction->commit());
    }
  });

  const auto store = open();
  const auto transaction = must(store->begin());
  std::int64_t last = 0;
  for (int i = 0; i < kStores * kEach; ++i) {
    std::optional<Stored> head = must(transaction->head_of_line("main", "key"));
    ASSERT_TRUE(head) << i;
    EXPECT_GT(static_cast<std::int64_t>(head->event.id), last);
    last = static_cast<std::int64_t>(head->event.id);
    end(head->event, Status::completed, clock_.now());
    head->line = Line::none;
    must(transaction->save({&*head, 1}));
    if (std::optional<Stored> next = must(transaction->first_behind("main", "key"))) {
      next->line = Line::head;
      must(transaction->save({&*next, 1}));
    }
  }
  EXPECT_FALSE(must(transaction->head_of_line("main", "key")));
}

// A claim takes no lock on the line.
TEST_F(PostgresConcurrencyTest, AHeadThatWasClaimedSinceItWasReadIsNotSavedAndTheCallerMayRetry) {
  const auto one = open();
  const auto other = open();
  Stored stored = event_named("a");
  stored.event.ordering_key = "key";
  stored.line = Line::head;
  {
    const auto transaction = must(one->begin());
    must(transaction->insert({&stored, 1}));
    must(transaction->commit());
  }
  const auto reads = must(one->begin());
  std::optional<Stored> head = must(reads->head_of_line("main", "key"));
  {
    const auto transaction = must(other->begin());
    std::vector<Stored> claimed = must(transaction->claim({"main", {}}, 1));
    hold(claimed.at(0).event, "w:1", clock_.now() + 60s);
    must(transaction->save(claimed));
    must(transaction->commit());
  }

  head.value().line = Line::behind;
  const auto saved = reads->save({&*head, 1});
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, ErrorCode::unavailable);
  EXPECT_EQ(saved.error().message,
            "Another server changed event 1 at the same time, so nothing was changed. Try again.");
}

TEST_F(PostgresConcurrencyTest, OneOfTheEventsThatSupersedeEachOtherRemains) {
  constexpr int kEach = 50;
  at_once([&](Store& store, int number) {
    for (int i = 0; i < kEach; ++i) {
      const auto transaction = must(store.begin());
      must(transaction->plan({.inserts = 1, .superseded = {{"main", "key"}}}));
      const std::vector<EventId> older = must(transaction->with_supersede_key("main", "key"));
      Stored stored = event_named(std::to_string(number) + " " + std::to_string(i));
      stored.event.supersede_key = "key";
      must(transaction->insert({&stored, 1}));
      for (std::optional<Stored>& old : must(transaction->load(older, Transaction::EventFields::state))) {
        EXPECT_LT(old->event.id, stored.event.id);
        end(old->event, Status::superseded, clock_.now());
        old->event.superseded_by = stored.event.id;
        must(transaction->save({&*old, 1}));
      }
      must(transaction->commit());
    }
  });

  const auto reader = must(open()->reader());
  EXPECT_EQ(must(reader->list({.status = Status::pending, .limit = 0})).total, 1);
  EXPECT_EQ(must(reader->list({.status = Status::superseded, .limit = 0})).total, kStores * kEach - 1);
}

// A worker claims events while newer events supersede them.
TEST_F(PostgresConcurrencyTest, AnEventIsEitherClaimedOrSupersededNeverBoth) {
  constexpr int kEach = 100;
  std::atomic<int> claimed = 0;
  at_once([&](Store& store, int number) {
    for (int i = 0; i < kEach; ++i) {
      const auto transaction = must(store.begin());
      if (number % 2 == 0) {
        for (Stored& stored : must(transaction->claim({"main", {}}, 1))) {
          end(stored.event, Status::completed, clock_.now());
          must(transaction->save({&stored, 1}));
          ++claimed;
        }
      } else {
        must(transaction->plan({.inserts = 1, .superseded = {{"main", "key"}}}));
        Stored newer = event_named(std::to_string(number) + " " + std::to_string(i));
        newer.event.supersede_key = "key";
        const std::vector<EventId> older = must(transaction->with_supersede_key("main", "key"));
        must(transaction->insert({&newer, 1}));
        for (std::optional<Stored>& old : must(transaction->load(older, Transaction::EventFields::state))) {
          EXPECT_EQ(old->event.status, Status::pending);
          end(old->event, Status::superseded, clock_.now());
          must(transaction->save({&*old, 1}));
        }
      }
      must(transaction->commit());
    }
  });

  const auto reader = must(open()->reader());
  const std::int64_t superseded = must(reader->list({.status = Status::superseded, .limit = 0})).total;
  const std::int64_t pending = must(reader->list({.status = Status::pending, .limit = 0})).total;
  EXPECT_EQ(must(reader->list({.status = Status::completed, .limit = 0})).total, claimed);
  EXPECT_LE(pending, 1);
  EXPECT_EQ(claimed + superseded + pending, kStores / 2 * kEach);
}

TEST_F(PostgresConcurrencyTest, AnEventIdAndAKeyAreUsedOnceByConcurrentPublishers) {
  constexpr int kIds = 60;
  std::atomic<int> inserted = 0;
  std::atomic<int> keys = 0;
  at_once([&](Store& store, int) {
    for (int i = 0; i < kIds; ++i) {
      const std::string id = std::to_string(i);
      const bool planned = i % 2 == 0;
      const auto transaction = must(store.begin());
      if (planned) must(transaction->plan({.inserts = 1, .event_ids = {id}, .keys = {id}}));
      if (!must(transaction->find_key(id))) {
        must(transaction->put_key({id, "print", {}, clock_.now()}));
        ++keys;
      }
      if (!must(transaction->find(id))) {
        Stored stored = event_named(id);
        must(transaction->insert({&stored, 1}));
        ++inserted;
      }
      must(transaction->commit());
    }
  });

  EXPECT_EQ(inserted, kIds);
  EXPECT_EQ(keys, kIds);
  EXPECT_EQ(must(must(open()->reader())->list({.limit = 0})).total, kIds);
}

TEST_F(PostgresConcurrencyTest, AnEventsEntriesAscendInTheOrderInWhichTheyWereWritten) {
  constexpr int kEach = 100;
  Stored stored = event_named("a");
  {
    const auto store = open();
    const auto transaction = must(store->begin());
    must(transaction->insert({&stored, 1}));
    must(transaction->commit());
  }
  const EventId id = stored.event.id;
  at_once([&](Store& store, int number) {
    for (int i = 0; i < kEach; ++i) {
      const auto transaction = must(store.begin());
      if (i % 2 == 0) must(transaction->plan({.changes = {id}}));
      Stored loaded = must(transaction->load({{id}}, Transaction::EventFields::state)).front().value();
      loaded.event.attempts += 1;
      LogEntry entry = new_entry(id, Action::started, "w:" + std::to_string(number));
      entry.attempt = loaded.event.attempts;
      must(transaction->save({&loaded, 1}));
      must(transaction->append({&entry, 1}));
      must(transaction->commit());
    }
  });

  const std::vector<LogEntry> log = must(must(open()->reader())->log(id));
  ASSERT_EQ(log.size(), static_cast<std::size_t>(kStores * kEach));
  for (std::size_t i = 0; i < log.size(); ++i) EXPECT_EQ(log[i].attempt, static_cast<int>(i) + 1);
}

TEST_F(PostgresConcurrencyTest, ATransactionThatIsAloneSeesEarlierCommitsAndNoOtherRunsBesideIt) {
  constexpr int kEach = 50;
  std::atomic<int> inside = 0;
  at_once([&](Store& store, int number) {
    for (int i = 0; i < kEach; ++i) {
      const bool alone = (i + number) % 5 == 0;
      const auto transaction = must(store.begin());
      must(transaction->plan({.inserts = 1, .alone = alone}));
      const int beside = inside.fetch_add(1);
      EXPECT_TRUE(!alone || beside == 0) << beside;
      Stored stored = event_named(std::to_string(number) + " " + std::to_string(i));
      must(transaction->insert({&stored, 1}));
      inside.fetch_sub(1);
      must(transaction->commit());
    }
  });
  EXPECT_EQ(must(must(open()->reader())->list({.limit = 0})).total, kStores * kEach);
}

// Each transaction plans changes of several events with keys of all kinds, in any order, and then claims
// others.
TEST_F(PostgresConcurrencyTest, PlannedTransactionsOnTheSameKeysDoNotDeadlock) {
  constexpr int kEach = 500;
  constexpr int kEvents = 40;
  std::vector<EventId> ids;
  {
    const auto store = open();
    const auto transaction = must(store->begin());
    for (int i = 0; i < kEvents; ++i) {
      Stored stored = event_named(std::to_string(i));
      stored.event.correlation_id = "c" + std::to_string(i % 7);
      stored.event.supersede_key = "s" + std::to_string(i % 5);
      stored.event.tags = {"t" + std::to_string(i % 3)};
      must(transaction->insert({&stored, 1}));
      ids.push_back(stored.event.id);
    }
    must(transaction->commit());
  }
  std::atomic<int> failures = 0;
  at_once([&](Store& store, int number) {
    std::mt19937 random(static_cast<unsigned>(number));
    const auto any = [&](int n) { return std::uniform_int_distribution(0, n - 1)(random); };
    for (int i = 0; i < kEach; ++i) {
      TransactionPlan plan{.inserts = 1, .claims = {{Selector{"main", {}}, 3}}};
      std::set<EventId> changes;
      for (int n = any(6); n > 0; --n) changes.insert(ids[static_cast<std::size_t>(any(kEvents))]);
      plan.changes.assign(changes.begin(), changes.end());
      std::shuffle(plan.changes.begin(), plan.changes.end(), random);
      for (int n = any(3); n > 0; --n) plan.correlations.push_back("c" + std::to_string(any(7)));
      for (int n = any(3); n > 0; --n) plan.lines.emplace_back("main", "l" + std::to_string(any(4)));
      for (int n = any(3); n > 0; --n) plan.superseded.emplace_back("main", "s" + std::to_string(any(5)));
      for (int n = any(3); n > 0; --n) plan.keys.push_back("k" + std::to_string(any(10)));
      const auto work = [&]() -> Result<void> {
        auto transaction = store.begin();
        if (!transaction) return transaction.error();
        if (auto done = (*transaction)->plan(plan); !done) return done;
        auto loaded = (*transaction)->load(plan.changes, Transaction::EventFields::state);
        if (!loaded) return loaded.error();
        for (std::optional<Stored>& stored : *loaded) {
          stored->event.attempts += 1;
          if (auto done = (*transaction)->save({&*stored, 1}); !done) return done;
        }
        auto claimed = (*transaction)->claim({"main", {"t0", "t1"}}, 3);
        if (!claimed) return claimed.error();
        for (Stored& stored : *claimed) stored.event.attempts += 1;
        if (auto done = (*transaction)->save(*claimed); !done) return done;
        for (const std::string& key : plan.keys) {
          if (auto done = (*transaction)->put_key({key, "print", {}, clock_.now()}); !done) return done;
        }
        return (*transaction)->commit();
      };
      const auto done = work();
      if (!done) ++failures;
      EXPECT_TRUE(done) << done.error().message;
    }
  });
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace eventq::postgres
