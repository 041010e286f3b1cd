// supersede_test.cc: a newer event supersedes pending events with the same supersede_key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

class CoreSupersede : public CoreTest {
 protected:
  static NewEvent state_of(const std::string& key, const std::string& title,
                           const std::string& queue = "main") {
    return {.title = title, .tags = {"t"}, .queue = queue, .supersede_key = key};
  }
  EventId add(const std::string& key, const std::string& title) {
    return driver.publish(state_of(key, title));
  }
  std::vector<std::string> ready(const std::string& queue = "main") {
    return titles(driver.claims(driver.run(claim_in(queue, "w:1", 10))));
  }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreSupersede, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreSupersede, ANewerEventSupersedesAPendingOne) {
  const EventId old = add("k", "old");
  const EventId newer = add("k", "new");

  EXPECT_EQ(driver.event(old).status, Status::superseded);
  EXPECT_EQ(driver.event(old).superseded_by, newer);
  EXPECT_THAT(actions(driver.log(old)), ElementsAre(Action::superseded));
  EXPECT_EQ(driver.log(old).at(0).reason, "By event " + std::to_string(static_cast<int>(newer)) + ".");
  EXPECT_THAT(ready(), ElementsAre("new"));
}

TEST_P(CoreSupersede, AnEventInWorkIsNotSuperseded) {
  const EventId old = add("k", "old");
  const Lease lease = driver.claim("t", "w:1");
  add("k", "new");

  EXPECT_EQ(driver.event(old).status, Status::processing);
  EXPECT_TRUE(driver.answer(driver.run(complete(lease))).changed.at(0));
  EXPECT_EQ(driver.event(old).status, Status::completed);
}

TEST_P(CoreSupersede, AnEventThatWaitsForItsRetryOrDelayIsSuperseded) {
  const EventId failed = add("k", "failed");
  driver.run(fail(driver.claim("t", "w:1")));
  const EventId delayed =
      driver.publish({.title = "delayed", .tags = {"t"}, .supersede_key = "d", .delay = 1h});
  add("k", "new");
  add("d", "new");

  EXPECT_EQ(driver.event(failed).status, Status::superseded);
  EXPECT_EQ(driver.event(delayed).status, Status::superseded);
}

TEST_P(CoreSupersede, OnlyTheSameKeyInTheSameQueueIsSuperseded) {
  add("k", "one");
  add("K", "two");
  driver.publish(state_of("k", "three", "orders"));
  driver.publish({.title = "four", .tags = {"t"}});

  EXPECT_THAT(ready(), ElementsAre("one", "two", "four"));
  EXPECT_THAT(ready("orders"), ElementsAre("three"));
}

TEST_P(CoreSupersede, OfOneBatchTheLastOfAKeyIsLeft) {
  driver.run(publish_all({state_of("k", "1"), state_of("k", "2"), state_of("k", "3")}));

  EXPECT_THAT(ready(), ElementsAre("3"));
}

TEST_P(CoreSupersede, OfOneRunTheLastPublicationIsLeft) {
  const auto [first, second, taken] =
      driver.run_together(publish(state_of("k", "1")), publish(state_of("k", "2")), claim({"t"}, "w:1", 10));

  EXPECT_THAT(titles(driver.claims(taken)), ElementsAre("2"));
  EXPECT_EQ(driver.event((*driver.answer(first).published)->events.at(0).id).status, Status::superseded);
}

TEST_P(CoreSupersede, AWaiterIsNotGivenAnEventSupersededInTheSameRun) {
  const Token waiter = driver.run(claim_in_or_wait("main", "w:1", 10));
  driver.run(publish_all({state_of("k", "1"), state_of("k", "2")}));

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("2"));
}

TEST_P(CoreSupersede, APublicationThatExistsAlreadySupersedesNothing) {
  NewEvent event = state_of("k", "old");
  event.event_id = "own";
  const EventId old = driver.publish(event);
  driver.publish(event);

  EXPECT_EQ(driver.event(old).status, Status::pending);
}

TEST_P(CoreSupersede, ASupersededEventCanNeitherBeResetNorCancelled) {
  const EventId old = add("k", "old");
  add("k", "new");

  EXPECT_EQ(driver.answer(driver.run(reset(old))).changed.at(0).error().code, ErrorCode::conflict);
  EXPECT_EQ(driver.answer(driver.run(cancel(old))).changed.at(0).error().code, ErrorCode::conflict);
}

TEST_P(CoreSupersede, APersonMaySupersedeAllPendingEventsOfAKey) {
  driver.run(configure("orders", {}));
  const EventId working = driver.publish(state_of("k", "working", "orders"));
  driver.run(claim_in("orders", "w:1"));
  const EventId pending = driver.publish(state_of("k", "pending", "orders"));
  const EventId other = driver.publish(state_of("other", "other", "orders"));

  const auto changed =
      admin_answer<QueueChanged>(driver.answer(driver.run(supersede_key("orders", "k", "obsolete"))));

  EXPECT_THAT(changed->superseded, ElementsAre(pending));
  EXPECT_EQ(changed->depth, 2);
  EXPECT_EQ(driver.event(working).status, Status::processing);
  EXPECT_EQ(driver.event(other).status, Status::pending);
  EXPECT_EQ(driver.event(pending).superseded_by, std::nullopt);
  EXPECT_EQ(driver.log(pending).at(0).reason, "obsolete");
}

TEST_P(CoreSupersede, AKeyWithoutEventsSupersedesNothing) {
  const auto changed = admin_answer<QueueChanged>(driver.answer(driver.run(supersede_key("main", "k"))));

  EXPECT_THAT(changed->superseded, IsEmpty());
}

TEST_P(CoreSupersede, TheKeyOfAnUnknownQueueIsNotFound) {
  EXPECT_EQ(admin_answer<QueueChanged>(driver.answer(driver.run(supersede_key("nowhere", "k")))).error().code,
            ErrorCode::not_found);
}

TEST_P(CoreSupersede, TheNextOfALineIsServedAfterAPersonSupersededItsHead) {
  driver.publish({.title = "head", .tags = {"t"}, .ordering_key = "A", .supersede_key = "k"});
  driver.publish({.title = "next", .tags = {"t"}, .ordering_key = "A"});
  driver.run(pause("main"));
  const Token waiter = driver.run(claim_in_or_wait("main", "w:1"));
  driver.run(supersede_key("main", "k"));
  driver.run(resume("main"));
  EXPECT_LE(driver.core().next_attention(), clock().now());
  driver.run_once();

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("next"));
}

TEST_P(CoreSupersede, ACommitThatFailedSupersedesNothing) {
  const EventId old = add("k", "old");
  driver.store().refuse_commit(Error{ErrorCode::no_space, "The disk is full.", ""});
  driver.run(publish(state_of("k", "new")));
  driver.store().refuse_commit(std::nullopt);

  EXPECT_EQ(driver.event(old).status, Status::pending);
  EXPECT_THAT(ready(), ElementsAre("old"));
}

}  // namespace
}  // namespace eventq
