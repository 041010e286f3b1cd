// order_test.cc: events with the same ordering_key: one at a time, in the order they were published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/core.h"
#include "support/core_driver.h"
#include "support/queue_commands.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class CoreOrder : public CoreTest {
 protected:
  // An event called "A1" has the ordering_key "A".
  static NewEvent named(const std::string& title) {
    return {.title = title, .tags = {"t"}, .ordering_key = title.substr(0, 1)};
  }
  EventId add(const std::string& title) { return ids_[title] = driver.publish(named(title)); }
  void add_all(const std::vector<std::string>& titles) {
    for (const std::string& title : titles) add(title);
  }

  // Claims the next event and returns its title, or "nothing".
  std::string take(const std::string& queue = "main") {
    const std::vector<Claim> claims = driver.claims(driver.run(claim_in(queue, "w:1")));
    if (claims.empty()) return "nothing";
    const Event& event = claims.front().event;
    leases_[event.title] = {event.id, "w:1", event.attempts};
    return event.title;
  }
  const Lease& lease(const std::string& title) { return leases_.at(title); }
  void finish(const std::string& title) { driver.run(complete(lease(title))); }
  // Claims and completes one event after the other until none is left.
  std::vector<std::string> work_off() {
    std::vector<std::string> titles;
    for (std::string title = take(); title != "nothing"; title = take()) {
      finish(title);
      titles.push_back(title);
    }
    return titles;
  }
  void set_on_failure(OnFailure what) { driver.run(configure("main", {.on_failure = what})); }

  std::map<std::string, EventId> ids_;
  std::map<std::string, Lease> leases_;
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreOrder, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreOrder, TheNextOfAKeyRunsOnlyAfterTheOneBeforeHasEnded) {
  add_all({"A1", "A2"});

  EXPECT_EQ(take(), "A1");
  EXPECT_EQ(take(), "nothing");
  finish("A1");
  EXPECT_EQ(take(), "A2");
}

TEST_P(CoreOrder, AClaimOfManyGetsOneOfEachKey) {
  add_all({"A1", "A2", "B1", "B2"});
  driver.publish({.title = "free", .tags = {"t"}});

  EXPECT_THAT(titles(driver.claims(driver.run(claim_in("main", "w:1", 10)))),
              ElementsAre("A1", "B1", "free"));
}

TEST_P(CoreOrder, EventsOfAKeyEndInTheOrderTheyWerePublished) {
  add_all({"A1", "A2", "A3", "A4"});

  EXPECT_THAT(work_off(), ElementsAre("A1", "A2", "A3", "A4"));
}

TEST_P(CoreOrder, TheEventsOfOnePublicationAreInOrderToo) {
  driver.run(publish_all({named("A1"), named("A2"), named("A3")}));

  EXPECT_THAT(titles(driver.claims(driver.run(claim_in("main", "w:1", 10)))), ElementsAre("A1"));
}

TEST_P(CoreOrder, AnEventThatWaitsForItsRetryHoldsUpThoseBehindIt) {
  add_all({"A1", "A2"});
  take();
  driver.run(fail(lease("A1")));

  EXPECT_EQ(take(), "nothing");
  clock().advance(5min);
  EXPECT_EQ(take(), "A1");
  EXPECT_EQ(take(), "nothing");
  finish("A1");
  EXPECT_EQ(take(), "A2");
}

TEST_P(CoreOrder, AnAbandonedEventIsTakenAgainBeforeThoseBehindIt) {
  add_all({"A1", "A2"});
  take();
  clock().advance(60s);

  EXPECT_EQ(take(), "A1");
  EXPECT_EQ(take(), "nothing");
}

TEST_P(CoreOrder, AReleasedEventIsTakenAgainBeforeThoseBehindIt) {
  add_all({"A1", "A2"});
  take();
  driver.run(change({lease("A1"), Release{}}));

  EXPECT_EQ(take(), "A1");
  EXPECT_EQ(take(), "nothing");
}

TEST_P(CoreOrder, AnEventThatIsResetWhileInWorkIsTakenAgainBeforeThoseBehindIt) {
  add_all({"A1", "A2"});
  take();
  driver.run(reset(ids_["A1"]));

  EXPECT_EQ(take(), "A1");
  EXPECT_EQ(take(), "nothing");
}

TEST_P(CoreOrder, ACancelledHeadLetsTheNextOneRun) {
  add_all({"A1", "A2"});
  driver.run(cancel(ids_["A1"]));

  EXPECT_EQ(take(), "A2");
}

TEST_P(CoreOrder, AHeadCancelledInWorkLetsTheNextOneRun) {
  add_all({"A1", "A2"});
  take();
  driver.run(cancel(ids_["A1"]));

  EXPECT_EQ(take(), "A2");
}

TEST_P(CoreOrder, AnEventCancelledBehindTheHeadIsSkipped) {
  add_all({"A1", "A2", "A3"});
  driver.run(cancel(ids_["A2"]));

  EXPECT_THAT(work_off(), ElementsAre("A1", "A3"));
}

TEST_P(CoreOrder, ASupersededHeadLetsTheNextOneRun) {
  NewEvent first = named("A1");
  first.supersede_key = "s";
  driver.publish(first);
  add("A2");
  NewEvent newer = named("A3");
  newer.supersede_key = "s";
  driver.publish(newer);

  EXPECT_THAT(work_off(), ElementsAre("A2", "A3"));
}

TEST_P(CoreOrder, AnEventSupersededBehindTheHeadIsSkipped) {
  add("A1");
  NewEvent second = named("A2");
  second.supersede_key = "s";
  driver.publish(second);
  NewEvent newer = named("A3");
  newer.supersede_key = "s";
  driver.publish(newer);

  EXPECT_THAT(work_off(), ElementsAre("A1", "A3"));
}

TEST_P(CoreOrder, AnEventThatSupersedesTheOnlyOneOfItsKeyIsTheHead) {
  NewEvent first = named("A1");
  first.supersede_key = "s";
  driver.publish(first);
  first.title = "A2";
  driver.publish(first);

  EXPECT_THAT(work_off(), ElementsAre("A2"));
}

TEST_P(CoreOrder, AFinalFailureLetsTheNextOneRun) {
  add_all({"A1", "A2"});
  take();
  driver.run(fail_for_good(lease("A1")));

  EXPECT_EQ(take(), "A2");
}

TEST_P(CoreOrder, AFinalFailureHoldsUpThoseBehindItWhenTheQueueBlocks) {
  set_on_failure(OnFailure::block);
  add_all({"A1", "A2", "B1"});
  take();
  driver.run(fail_for_good(lease("A1")));
  add("A3");

  EXPECT_EQ(take(), "B1");
  EXPECT_EQ(take(), "nothing");
  EXPECT_EQ(driver.event(ids_["A1"]).status, Status::failed);
}

TEST_P(CoreOrder, AQueueThatStopsBlockingLetsThoseBehindItsFailuresRun) {
  set_on_failure(OnFailure::block);
  add_all({"A1", "A2"});
  take();
  driver.run(fail_for_good(lease("A1")));
  set_on_failure(OnFailure::skip);

  EXPECT_EQ(take(), "A2");
}

TEST_P(CoreOrder, AQueueThatStopsBlockingFreesEveryLineHoweverManyAndHoweverLarge) {
  set_on_failure(OnFailure::block);
  const std::string large(1'000'000, 'x');
  for (int key = 0; key < 40; ++key) {
    for (int i = 0; i < 2; ++i) {
      driver.publish({.title = "large",
                      .tags = {"t"},
                      .payload = '"' + large + '"',
                      .max_retries = 0,
                      .ordering_key = std::to_string(key)});
    }
  }
  for (int key = 0; key < 40; ++key) driver.run(fail_for_good(driver.claim("t", "w:1")));
  set_on_failure(OnFailure::skip);

  for (int key = 0; key < 40; ++key) driver.claim("t", "w:1");
}

TEST_P(CoreOrder, AResetOfTheBlockingFailureRunsItFirstAndThenTheOthers) {
  set_on_failure(OnFailure::block);
  add_all({"A1", "A2"});
  take();
  driver.run(fail_for_good(lease("A1")));
  driver.run(reset(ids_["A1"]));

  EXPECT_EQ(take(), "A1");
  EXPECT_EQ(take(), "nothing");
  finish("A1");
  EXPECT_EQ(take(), "A2");
}

TEST_P(CoreOrder, ACancellationOfTheBlockingFailureLetsTheOthersRun) {
  set_on_failure(OnFailure::block);
  add_all({"A1", "A2"});
  take();
  driver.run(fail_for_good(lease("A1")));
  const Token waiter = driver.run(claim_in_or_wait("main", "w:2"));
  driver.run(cancel(ids_["A1"]));

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("A2"));
}

TEST_P(CoreOrder, AnEventOutOfAttemptsLetsTheNextOfItsLineRun) {
  driver.run(configure("main", {.max_attempts = 1}));
  add_all({"A1", "A2"});
  take();
  clock().advance(60s);

  EXPECT_EQ(take(), "A2");
  EXPECT_EQ(driver.event(ids_["A1"]).status, Status::failed);
}

TEST_P(CoreOrder, AnEventOutOfAttemptsHoldsUpTheOthersWhenTheQueueBlocks) {
  driver.run(configure("main", {.max_attempts = 1, .on_failure = OnFailure::block}));
  add_all({"A1", "A2"});
  take();
  clock().advance(60s);

  EXPECT_EQ(take(), "nothing");
  EXPECT_EQ(driver.event(ids_["A1"]).status, Status::failed);
}

TEST_P(CoreOrder, AnOlderEventThatIsResetBecomesTheHeadBeforeThePendingHead) {
  add_all({"A1", "A2", "A3"});
  driver.run(cancel(ids_["A1"]));
  driver.run(reset(ids_["A1"]));

  EXPECT_THAT(work_off(), ElementsAre("A1", "A2", "A3"));
}

TEST_P(CoreOrder, AnOlderEventThatIsResetWaitsForTheOneInWork) {
  add_all({"A1", "A2", "A3"});
  driver.run(cancel(ids_["A1"]));
  take();
  driver.run(reset(ids_["A1"]));

  EXPECT_EQ(take(), "nothing");
  finish("A2");
  EXPECT_THAT(work_off(), ElementsAre("A1", "A3"));
}

TEST_P(CoreOrder, AnEventThatIsResetIntoAnEmptyLineRuns) {
  add("A1");
  driver.run(cancel(ids_["A1"]));
  driver.run(reset(ids_["A1"]));

  EXPECT_EQ(take(), "A1");
}

TEST_P(CoreOrder, ADelayedHeadHoldsUpThoseBehindIt) {
  NewEvent delayed = named("A1");
  delayed.delay = 1h;
  driver.publish(delayed);
  add("A2");

  EXPECT_EQ(take(), "nothing");
  clock().advance(1h);
  EXPECT_EQ(take(), "A1");
  EXPECT_EQ(take(), "nothing");
}

TEST_P(CoreOrder, ADelayedEventThatBecomesTheHeadStillWaitsForItsTime) {
  add("A1");
  NewEvent delayed = named("A2");
  delayed.delay = 1h;
  driver.publish(delayed);
  take();
  finish("A1");

  EXPECT_EQ(take(), "nothing");
  driver.expect_attention(kStart + 1min);  // a checkpoint
  clock().advance(1h);
  EXPECT_EQ(take(), "A2");
}

TEST_P(CoreOrder, PrioritiesDoNotOvertakeWithinAKey) {
  add("A1");
  NewEvent urgent = named("A2");
  urgent.priority = 10;
  driver.publish(urgent);
  NewEvent other = named("B1");
  other.priority = 5;
  driver.publish(other);

  EXPECT_THAT(work_off(), ElementsAre("B1", "A1", "A2"));
}

TEST_P(CoreOrder, TheSameKeyInAnotherQueueIsAnotherKey) {
  add_all({"A1", "A2"});
  NewEvent other = named("A9");
  other.queue = "orders";
  driver.publish(other);
  EXPECT_EQ(take(), "A1");

  EXPECT_EQ(take("orders"), "A9");
  finish("A9");
  EXPECT_EQ(take(), "nothing");
}

TEST_P(CoreOrder, EventsWithoutAKeyDoNotWaitForEachOther) {
  driver.publish({.title = "one", .tags = {"t"}});
  driver.publish({.title = "two", .tags = {"t"}});

  EXPECT_EQ(take(), "one");
  EXPECT_EQ(take(), "two");
}

TEST_P(CoreOrder, ManyEventsOfOneKeyDoNotDelayOtherKeys) {
  add_all({"A1", "A2", "A3", "A4", "B1", "B2", "C1"});

  EXPECT_THAT(work_off(), ElementsAre("A1", "B1", "C1", "A2", "B2", "A3", "A4"));
}

TEST_P(CoreOrder, AnEventThatBecomesTheHeadIsClaimedAfterReadyEventsAndBeforeLaterPublications) {
  add_all({"A1", "A2"});
  driver.publish({.title = "early", .tags = {"t"}});
  take();
  finish("A1");
  driver.publish({.title = "late", .tags = {"t"}});

  EXPECT_THAT(work_off(), ElementsAre("early", "A2", "late"));
}

TEST_P(CoreOrder, AWaitingWorkerIsServedWhenTheHeadEnds) {
  add_all({"A1", "A2"});
  take();
  const Token waiter = driver.run(claim_or_wait({"t"}, "w:2"));
  EXPECT_FALSE(driver.answered(waiter));

  finish("A1");

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("A2"));
}

TEST_P(CoreOrder, ACommandThatCompletesTheHeadClaimsTheNextOfTheLine) {
  add_all({"A1", "A2"});
  take();
  Command turn = claim_in("main", "w:1", 10);
  turn.changes.push_back({lease("A1"), Complete{}});

  EXPECT_THAT(titles(driver.claims(driver.run(turn))), ElementsAre("A2"));
}

TEST_P(CoreOrder, OneRunMayPublishCompleteAndCancelOfTheSameKey) {
  add_all({"A1", "A2"});
  take();

  const auto [publication, completion, cancellation, first, second] =
      driver.run_together(publish(named("A3")), complete(lease("A1")), cancel(ids_["A2"]),
                          claim({"t"}, "w:2", 10), claim({"t"}, "w:3", 10));

  EXPECT_TRUE(driver.answer(publication).published->has_value());
  EXPECT_THAT(titles(driver.claims(first)), ElementsAre("A3"));
  EXPECT_THAT(driver.claims(second), IsEmpty());
  EXPECT_EQ(driver.event(ids_["A1"]).status, Status::completed);
  EXPECT_EQ(driver.event(ids_["A2"]).status, Status::cancelled);
}

TEST_P(CoreOrder, OneRunMayFailTheHeadAndResetIt) {
  add_all({"A1", "A2"});
  take();
  driver.run_together(fail_for_good(lease("A1")), reset(ids_["A1"]));

  EXPECT_THAT(work_off(), ElementsAre("A1", "A2"));
}

TEST_P(CoreOrder, OneRunMayResetAnOlderEventAndEndTheHead) {
  add_all({"A1", "A2", "A3"});
  driver.run(cancel(ids_["A1"]));
  take();
  driver.run_together(complete(lease("A2")), reset(ids_["A1"]));

  EXPECT_THAT(work_off(), ElementsAre("A1", "A3"));
}

TEST_P(CoreOrder, TheOrderOutlivesARestart) {
  add_all({"A1", "A2", "A3", "B1", "B2"});
  take();
  finish("A1");
  driver.restart(kPolicy);
  EXPECT_EQ(take(), "B1");
  driver.restart(kPolicy);

  EXPECT_EQ(take(), "A2");
  EXPECT_EQ(take(), "nothing");
  finish("A2");
  EXPECT_EQ(take(), "A3");
  finish("B1");
  EXPECT_EQ(take(), "B2");
}

TEST_P(CoreOrder, ABlockingFailureOutlivesARestart) {
  set_on_failure(OnFailure::block);
  add_all({"A1", "A2"});
  take();
  driver.run(fail_for_good(lease("A1")));
  driver.restart(kPolicy);

  EXPECT_EQ(take(), "nothing");
  driver.run(cancel(ids_["A1"]));
  EXPECT_EQ(take(), "A2");
}

TEST_P(CoreOrder, ACommitThatFailedMovesNoLine) {
  add_all({"A1", "A2"});
  take();
  driver.store().refuse_commit(Error{ErrorCode::no_space, "The disk is full.", ""});
  finish("A1");
  driver.store().refuse_commit(std::nullopt);

  EXPECT_EQ(take(), "nothing");
  finish("A1");
  EXPECT_EQ(take(), "A2");
}

}  // namespace
}  // namespace eventq
