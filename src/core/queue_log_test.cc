// queue_log_test.cc: the log of a queue has one entry for each change that a caller asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/core.h"
#include "model/names.h"
#include "support/core_driver.h"
#include "support/queue_commands.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class CoreQueueLog : public CoreTest {
 protected:
  std::vector<QueueLogEntry> log(const std::string& queue = "orders") {
    return driver.store().reader().value()->queue_log({queue, "", 100}).value();
  }
  // "action by reason" of each entry, newest first.
  std::vector<std::string> lines(const std::string& queue = "orders") {
    std::vector<std::string> lines;
    for (const QueueLogEntry& entry : log(queue)) {
      lines.push_back(std::string(name_of(entry.action)) + " " + entry.by + " " + entry.reason);
    }
    return lines;
  }
  void run(QueueChange change, std::string by, std::string reason) {
    change.queue = "orders";
    change.actor = {std::move(by), std::move(reason)};
    driver.run(ask(std::move(change)));
  }
  void publish_one(const std::string& supersede_key = "") {
    driver.run(publish({.title = "x", .tags = {"t"}, .queue = "orders", .supersede_key = supersede_key}));
  }
  EventId fail_one(const std::string& message) {
    publish_one();
    const Claim claim = driver.claims(driver.run(claim_in("orders", "w:1"))).at(0);
    driver.run(fail_for_good({claim.event.id, "w:1", claim.event.attempts}, message));
    return claim.event.id;
  }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreQueueLog, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreQueueLog, EveryChangeOfAQueueIsLoggedOnceWithItsAuthorAndReason) {
  run({.what = QueueChange::Configure{{.max_queue_depth = 5}}}, "ann", "new shop");
  clock().advance(1s);
  run({.what = QueueChange::Configure{{.max_queue_depth = 9}}}, "bob", "more orders");
  run({.what = QueueChange::SetStatus{QueueStatus::paused}}, "ann", "database moves");
  run({.what = QueueChange::SetStatus{QueueStatus::active}}, "ann", "");
  run({.what = QueueChange::SetStatus{QueueStatus::draining}}, "", "shop closes");
  run({.what = QueueChange::MakeCheckpoint{}}, "bob", "before the release");

  EXPECT_THAT(lines(),
              ElementsAre("checkpoint_made bob before the release", "draining  shop closes", "resumed ann ",
                          "paused ann database moves", "configured bob more orders", "created ann new shop"));
  EXPECT_EQ(log().back().created_at, kStart);
  EXPECT_EQ(log().front().created_at, kStart + 1s);
}

TEST_P(CoreQueueLog, TheEntryOfNewSettingsHasThoseBeforeAndAfter) {
  run({.what = QueueChange::Configure{{.max_queue_depth = 5}}}, "", "");
  run({.what = QueueChange::Configure{{.max_queue_depth = 9}}}, "", "");

  EXPECT_THAT(log().back().detail, StartsWith(R"({"to":{"maxQueueDepth":5,)"));
  EXPECT_THAT(log().front().detail, StartsWith(R"({"from":{"maxQueueDepth":5,)"));
  EXPECT_THAT(log().front().detail, testing::HasSubstr(R"("to":{"maxQueueDepth":9,)"));
}

TEST_P(CoreQueueLog, SettingsAndAStatusThatStayTheSameAreNotLogged) {
  for (int i = 0; i < 2; ++i) run({.what = QueueChange::Configure{{.max_queue_depth = 5}}}, "ann", "");
  for (int i = 0; i < 2; ++i) run({.what = QueueChange::SetStatus{QueueStatus::paused}}, "ann", "why");

  EXPECT_THAT(lines(), ElementsAre("paused ann why", "created ann "));
}

TEST_P(CoreQueueLog, AQueueThatItsFirstEventCreatesHasNoEntry) {
  publish_one();

  EXPECT_THAT(lines(), IsEmpty());
}

TEST_P(CoreQueueLog, SupersedingCountsTheEventsThatItEndedAndTheirEntriesNameThePerson) {
  driver.run(publish({.title = "x", .tags = {"t"}, .queue = "orders", .supersede_key = "k"}));
  run({.what = QueueChange::SupersedeKey{"k"}}, "ann", "old price");
  run({.what = QueueChange::SupersedeKey{"none"}}, "ann", "nothing to end");

  ASSERT_THAT(lines(), ElementsAre("superseded ann old price"));
  EXPECT_EQ(log().front().detail, R"({"supersede_key":"k","events":1})");
  EXPECT_EQ(driver.store().reader().value()->details(EventId{1}).value()->log.back().by, "ann");
}

TEST_P(CoreQueueLog, ARetryIsLoggedForEachQueueOfItsEventsAndInTheirLogs) {
  const EventId first = fail_one("no route");
  fail_one("no route");
  Revival revival{.kind = RevivalKind::retry, .filter = {.statuses = {Status::failed}, .cause = "no route"}};
  revival.by = "ann";
  revival.reason = "route is back";
  driver.run(ask(revival));

  ASSERT_THAT(lines(), ElementsAre("retried ann route is back"));
  EXPECT_EQ(log().front().detail, R"({"events":2,"cause":"no route"})");
  EXPECT_THAT(lines("main"), IsEmpty());
  const LogEntry last = driver.store().reader().value()->details(first).value()->log.back();
  EXPECT_EQ(last.action, Action::reset);
  EXPECT_EQ(last.by, "ann");
}

TEST_P(CoreQueueLog, ADryRunAndARevivalWithoutEventsAreNotLogged) {
  fail_one("no route");
  EndedFilter filter{.queue = "orders", .statuses = {Status::failed}};
  driver.run(replay(filter, {}, true));
  driver.run(retry_failed(filter, true));
  filter.pattern = "nothing.has.this";
  driver.run(replay(filter));

  EXPECT_THAT(lines(), IsEmpty());
}

TEST_P(CoreQueueLog, AReplayIsLoggedWithTheNumberOfItsEvents) {
  fail_one("no route");
  driver.run(replay({.queue = "orders", .statuses = {Status::failed}, .from = kStart}));

  ASSERT_THAT(lines(), ElementsAre("replayed  "));
  EXPECT_EQ(log().front().detail, R"({"events":1,"from":"2026-01-01T00:00:00.000Z"})");
}

TEST_P(CoreQueueLog, AChangeOfAQueueThatDoesNotExistIsNotLogged) {
  run({.what = QueueChange::SetStatus{QueueStatus::paused}}, "ann", "");

  EXPECT_THAT(lines(), IsEmpty());
}

TEST_P(CoreQueueLog, AnEntryHasTheIdThatTheRouterChose) {
  run({.what = QueueChange::Configure{}, .log_id = "0192f0c1-7c1e-7abc-8def-0123456789ab"}, "", "");

  EXPECT_EQ(log().front().id, "0192f0c1-7c1e-7abc-8def-0123456789ab");
}

// All shards have the same configuration, and their queue has one log.
TEST(CoreQueueLogAtStart, SettingsOfTheConfigurationAreLoggedByTheFirstShardWhenTheyChange) {
  ManualClock clock(kStart);
  const auto actions = [&](int shard) {
    const auto store = memory::open_store(clock);
    for (const std::int64_t depth : {3, 3, 4}) {
      clock.advance(1s);  // ids of two Cores are in order only when their times differ
      Core core(*store,
                {.policy = kPolicy, .queues = {{"orders", {.max_queue_depth = depth}}}, .share = {shard, 2}},
                Uuid7Source(static_cast<std::uint64_t>(depth)));
      EXPECT_TRUE(core.recover());
    }
    std::vector<QueueAction> found;
    const auto log = store->reader().value()->queue_log({"orders", "", 100});
    for (const QueueLogEntry& entry : *log) {
      found.push_back(entry.action);
    }
    return found;
  };

  EXPECT_THAT(actions(0), ElementsAre(QueueAction::configured, QueueAction::created));
  EXPECT_THAT(actions(1), IsEmpty());
}

}  // namespace
}  // namespace eventq
