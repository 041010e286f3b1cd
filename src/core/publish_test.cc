// publish_test.cc: the stored event of a publication, and the answers to repeated publications.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/core.h"
#include "support/core_driver.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;
using testing::StartsWith;

class CorePublish : public CoreTest {
 protected:
  Published published(Token token) { return driver.answer(token).published->value(); }
  Event only_event(Token token) { return published(token).events.at(0); }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CorePublish, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

const IdempotencyKey kKey{"order-17", "fingerprint of the body"};

TEST_P(CorePublish, ANewEventIsPendingAndUntouched) {
  const Event event = only_event(driver.run(publish({.title = "mail", .tags = {"email", "urgent"}})));

  EXPECT_EQ(event.id, EventId{1});
  EXPECT_THAT(event.event_id, AllOf(StartsWith("evt_"), SizeIs(40)));
  EXPECT_EQ(event.queue, "main");
  EXPECT_EQ(event.title, "mail");
  EXPECT_EQ(event.description, std::nullopt);
  EXPECT_THAT(event.tags, ElementsAre("email", "urgent"));
  EXPECT_EQ(event.payload, "null");
  EXPECT_EQ(event.correlation_id, "");
  EXPECT_EQ(event.max_retries, 3);
  EXPECT_EQ(event.status, Status::pending);
  EXPECT_EQ(event.attempts, 0);
  EXPECT_EQ(event.retry_count, 0);
  EXPECT_EQ(event.worker_id, "");
  EXPECT_EQ(event.created_at, kStart);
  EXPECT_EQ(event.updated_at, kStart);
}

TEST_P(CorePublish, AnEventsOwnMaxRetriesOverridesTheQueues) {
  EXPECT_EQ(
      only_event(driver.run(publish({.title = "mail", .tags = {"email"}, .max_retries = 0}))).max_retries, 0);
}

TEST_P(CorePublish, EventsOfOneRunGetTheirIdsInTheOrderOfTheRequests) {
  const auto [first, second] =
      driver.run_together(publish_all({{.title = "1", .tags = {"a"}}, {.title = "2", .tags = {"a"}}}),
                          publish({.title = "3", .tags = {"a"}}));

  EXPECT_THAT(published(first).events,
              ElementsAre(Field(&Event::id, EventId{1}), Field(&Event::id, EventId{2})));
  EXPECT_EQ(only_event(second).id, EventId{3});
}

TEST_P(CorePublish, CorrelatedEventsShareACorrelationIdMadeForThem) {
  Command command = publish_all({{.title = "1", .tags = {"a"}}, {.title = "2", .tags = {"a"}}});
  command.publication->correlated = true;

  const std::vector<Event> events = published(driver.run(command)).events;

  EXPECT_THAT(events.at(0).correlation_id, AllOf(StartsWith("corr_"), SizeIs(41)));
  EXPECT_EQ(events.at(0).correlation_id, events.at(1).correlation_id);
}

TEST_P(CorePublish, TwoCorrelatedPublicationsDoNotShareTheirCorrelationId) {
  Command command = publish_all({{.title = "1", .tags = {"a"}}});
  command.publication->correlated = true;

  const auto [first, second] = driver.run_together(command, command);

  EXPECT_NE(only_event(first).correlation_id, only_event(second).correlation_id);
}

TEST_P(CorePublish, CorrelatedEventsShareTheCorrelationIdOfTheFirstIfItHasOne) {
  Command command =
      publish_all({{.title = "1", .tags = {"a"}, .correlation_id = "mine"}, {.title = "2", .tags = {"a"}}});
  command.publication->correlated = true;

  const Published together = published(driver.run(command));

  EXPECT_EQ(together.correlation_id, "mine");
  EXPECT_EQ(together.events.at(0).correlation_id, "mine");
  EXPECT_EQ(together.events.at(1).correlation_id, "mine");
}

TEST_P(CorePublish, TheCorrelationIdThatWasMadeIsPartOfTheAnswer) {
  Command command = publish_all({{.title = "1", .tags = {"a"}}, {.title = "2", .tags = {"a"}}});
  command.publication->correlated = true;

  const Published together = published(driver.run(command));

  EXPECT_EQ(together.correlation_id, together.events.at(0).correlation_id);
}

TEST_P(CorePublish, EventsThatAreNotCorrelatedKeepTheirOwnCorrelationIds) {
  const Token token = driver.run(publish_all({{.title = "1", .tags = {"a"}, .correlation_id = "one"},
                                              {.title = "2", .tags = {"a"}, .correlation_id = "two"},
                                              {.title = "3", .tags = {"a"}}}));

  EXPECT_THAT(published(token).events,
              ElementsAre(Field(&Event::correlation_id, "one"), Field(&Event::correlation_id, "two"),
                          Field(&Event::correlation_id, "")));
}

TEST_P(CorePublish, TheSameKeyAndBodyGiveTheSameEvent) {
  const Event first = only_event(driver.run(publish({.title = "order", .tags = {"a"}}, kKey)));
  clock().advance(1h);

  const Published again = published(driver.run(publish({.title = "order", .tags = {"a"}}, kKey)));

  EXPECT_TRUE(again.replayed);
  ASSERT_THAT(again.events, SizeIs(1));
  EXPECT_EQ(again.events.at(0).id, first.id);
  EXPECT_EQ(again.events.at(0).event_id, first.event_id);
  EXPECT_EQ(driver.count(), 1);
}

TEST_P(CorePublish, TheAnswerToTheFirstUseOfAKeyIsNotMarkedAsReplayed) {
  EXPECT_FALSE(published(driver.run(publish({.title = "order", .tags = {"a"}}, kKey))).replayed);
}

TEST_P(CorePublish, AReplayShowsTheEventAsItWasPublishedAlsoAfterChanges) {
  driver.run(publish({.title = "order", .tags = {"a"}, .payload = "17"}, kKey));
  clock().advance(1h);
  driver.run(complete(driver.claim("a", "host:1")));

  const Event again =
      only_event(driver.run(publish({.title = "order", .tags = {"a"}, .payload = "17"}, kKey)));

  EXPECT_EQ(again.status, Status::pending);
  EXPECT_EQ(again.attempts, 0);
  EXPECT_EQ(again.worker_id, "");
  EXPECT_EQ(again.payload, "17");
  EXPECT_EQ(again.updated_at, kStart);
}

TEST_P(CorePublish, TheSameKeyOfABatchGivesTheSameEventsInTheirOrder) {
  Command command = publish_all({{.title = "1", .tags = {"a"}}, {.title = "2", .tags = {"a"}}});
  command.publication->key = kKey;
  driver.run(command);

  const Published again = published(driver.run(command));

  EXPECT_TRUE(again.replayed);
  EXPECT_THAT(again.events, ElementsAre(Field(&Event::title, "1"), Field(&Event::title, "2")));
  EXPECT_EQ(driver.count(), 2);
}

TEST_P(CorePublish, AReplayOfCorrelatedEventsHasTheirCorrelationId) {
  Command command = publish_all({{.title = "1", .tags = {"a"}}, {.title = "2", .tags = {"a"}}});
  command.publication->correlated = true;
  command.publication->key = kKey;
  const Published first = published(driver.run(command));

  EXPECT_EQ(published(driver.run(command)).correlation_id, first.correlation_id);
}

TEST_P(CorePublish, AReplayShowsAnEventThatExistedBeforeTheKeyInItsPresentState) {
  driver.publish({.title = "mail", .tags = {"email"}, .event_id = "mail-1"});
  clock().advance(1s);
  driver.run(publish({.title = "mail", .tags = {"email"}, .event_id = "mail-1"}, kKey));
  driver.run(complete(driver.claim("email", "host:1")));

  const Published again =
      published(driver.run(publish({.title = "mail", .tags = {"email"}, .event_id = "mail-1"}, kKey)));

  EXPECT_TRUE(again.replayed);
  EXPECT_TRUE(again.existed);
  EXPECT_EQ(again.events.at(0).status, Status::completed);
}

TEST_P(CorePublish, TheSameKeyForAnotherBodyIsAConflictAndStoresNothing) {
  driver.run(publish({.title = "order", .tags = {"a"}}, kKey));

  const Token other =
      driver.run(publish({.title = "bill", .tags = {"a"}}, {"order-17", "another fingerprint"}));

  const Error error = driver.answer(other).published->error();
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.field, "Idempotency-Key");
  EXPECT_EQ(error.message,
            "The Idempotency-Key \"order-17\" was used for another request within the last 24 hours. "
            "Use a new key for a new event.");
  EXPECT_EQ(driver.count(), 1);
}

TEST_P(CorePublish, TwoOfTheSameKeyInOneRunStoreOneEvent) {
  const auto [first, second] = driver.run_together(publish({.title = "order", .tags = {"a"}}, kKey),
                                                   publish({.title = "order", .tags = {"a"}}, kKey));

  EXPECT_FALSE(published(first).replayed);
  EXPECT_TRUE(published(second).replayed);
  EXPECT_EQ(only_event(second).id, only_event(first).id);
  EXPECT_EQ(driver.count(), 1);
}

TEST_P(CorePublish, AConflictInARunDoesNotTouchTheOtherRequests) {
  const auto [first, clash, other] =
      driver.run_together(publish({.title = "order", .tags = {"a"}}, kKey),
                          publish({.title = "bill", .tags = {"a"}}, {"order-17", "another fingerprint"}),
                          publish({.title = "mail", .tags = {"a"}}));

  EXPECT_EQ(only_event(first).title, "order");
  EXPECT_EQ(driver.answer(clash).published->error().code, ErrorCode::conflict);
  EXPECT_EQ(only_event(other).title, "mail");
}

TEST_P(CorePublish, AKeyCountsUntilItIsADayOld) {
  driver.run(publish({.title = "order", .tags = {"a"}}, kKey));

  clock().advance(24h - 1ms);
  EXPECT_TRUE(published(driver.run(publish({.title = "order", .tags = {"a"}}, kKey))).replayed);
  clock().advance(1ms);
  EXPECT_FALSE(published(driver.run(publish({.title = "order", .tags = {"a"}}, kKey))).replayed);

  EXPECT_EQ(driver.count(), 2);
}

TEST_P(CorePublish, AKeyUsedAgainAfterADayCountsForAnotherDay) {
  driver.run(publish({.title = "order", .tags = {"a"}}, kKey));
  clock().advance(25h);
  const Event second =
      only_event(driver.run(publish({.title = "bill", .tags = {"a"}}, {"order-17", "other"})));
  clock().advance(23h);

  const Published again =
      published(driver.run(publish({.title = "bill", .tags = {"a"}}, {"order-17", "other"})));

  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.events.at(0).id, second.id);
}

TEST_P(CorePublish, AKeySurvivesARestart) {
  const Event first = only_event(driver.run(publish({.title = "order", .tags = {"a"}}, kKey)));
  driver.restart(kPolicy);

  const Published again = published(driver.run(publish({.title = "order", .tags = {"a"}}, kKey)));

  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.events.at(0).event_id, first.event_id);
}

TEST_P(CorePublish, AReplayedPublicationWakesNoWaiter) {
  driver.run(publish({.title = "order", .tags = {"a"}}, kKey));
  driver.claim("a", "host:1");
  const Token waiter = driver.run(claim_or_wait({"a"}, "host:2"));

  driver.run(publish({.title = "order", .tags = {"a"}}, kKey));

  EXPECT_FALSE(driver.answered(waiter));
}

TEST_P(CorePublish, AnEventIdThatExistsGivesTheExistingEventAsItIsNow) {
  driver.publish({.title = "mail", .tags = {"email"}, .payload = "1", .event_id = "mail-1"});
  driver.claim("email", "host:1");

  const Published again = published(
      driver.run(publish({.title = "other", .tags = {"other"}, .payload = "2", .event_id = "mail-1"})));

  EXPECT_TRUE(again.existed);
  ASSERT_THAT(again.events, SizeIs(1));
  EXPECT_EQ(again.events.at(0).id, EventId{1});
  EXPECT_EQ(again.events.at(0).title, "mail");
  EXPECT_EQ(again.events.at(0).payload, "1");
  EXPECT_EQ(again.events.at(0).status, Status::processing);
  EXPECT_EQ(driver.count(), 1);
}

TEST_P(CorePublish, AnEventIdIsFoundAlsoWhenItsEventHasEnded) {
  driver.publish({.title = "mail", .tags = {"email"}, .event_id = "mail-1"});
  driver.run(complete(driver.claim("email", "host:1")));

  const Published again =
      published(driver.run(publish({.title = "mail", .tags = {"email"}, .event_id = "mail-1"})));

  EXPECT_TRUE(again.existed);
  EXPECT_EQ(again.events.at(0).status, Status::completed);
}

TEST_P(CorePublish, TheSameEventIdTwiceInOneRunIsOneEvent) {
  const auto [first, second] =
      driver.run_together(publish({.title = "mail", .tags = {"email"}, .event_id = "mail-1"}),
                          publish({.title = "mail", .tags = {"email"}, .event_id = "mail-1"}));

  EXPECT_FALSE(published(first).existed);
  EXPECT_TRUE(published(second).existed);
  EXPECT_EQ(only_event(first).id, only_event(second).id);
  EXPECT_EQ(driver.count(), 1);
}

TEST_P(CorePublish, TheSameEventIdTwiceInOneBatchIsOneEvent) {
  const Token token = driver.run(publish_all({{.title = "1", .tags = {"a"}, .event_id = "mail-1"},
                                              {.title = "2", .tags = {"a"}},
                                              {.title = "3", .tags = {"a"}, .event_id = "mail-1"}}));

  EXPECT_THAT(published(token).events,
              ElementsAre(Field(&Event::title, "1"), Field(&Event::title, "2"), Field(&Event::title, "1")));
  EXPECT_EQ(driver.count(), 2);
}

}  // namespace
}  // namespace eventq
