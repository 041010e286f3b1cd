// router_test.cc: two shards behave as one queue: events are spread, answers merged, waits span both, and one
// shard may be unavailable.
#include "shards/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/hash.h"
#include "model/policy.h"
#include "model/shard_of.h"
#include "shards/thread_shard.h"
#include "store/memory/memory_store.h"
#include "support/mailbox.h"
#include "support/manual_clock.h"
#include "support/queue_commands.h"
#include "support/switched_shard.h"
#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

NewEvent titled(std::string title) {
  NewEvent event;
  event.title = std::move(title);
  event.payload = "{}";
  event.tags = {"a"};
  return event;
}

// An ordering key of the shard, out of two.
std::string key_of(int shard) {
  for (int i = 0;; ++i) {
    std::string key = "key-" + std::to_string(i);
    if (shard_of(hash64(key), 2) == shard) return key;
  }
}

NewEvent placed(int shard, std::string title = "event") {
  NewEvent event = titled(std::move(title));
  event.supersede_key = "";
  event.correlation_id = key_of(shard);
  return event;
}

class RouterTest : public testing::Test {
 protected:
  explicit RouterTest(const RouterOptions& options = {}) {
    std::vector<std::unique_ptr<Shard>> made;
    for (int shard_index = 0; shard_index < 2; ++shard_index) made.push_back(make_shard(shard_index));
    router = std::make_unique<Router>(std::move(made), clock, options);
  }

  std::unique_ptr<Shard> make_shard(int shard_index) {
    auto store = memory::open_store(clock, shard_index, 2);
    std::vector<std::unique_ptr<Reader>> readers;
    readers.push_back(store->reader().value());
    CoreOptions options{.policy = default_policy(Options())};
    options.share = {shard_index, 2};
    auto core = std::make_unique<Core>(*store, options, Uuid7Source(static_cast<std::uint64_t>(shard_index)));
    EXPECT_TRUE(core->recover());
    std::vector<ShardWriter> writers;
    writers.push_back({std::move(store), std::move(core)});
    auto shard = std::make_unique<SwitchedShard>(std::make_unique<ThreadShard>(
        "memory-" + std::to_string(shard_index), std::move(writers), std::move(readers), clock, logger));
    shards.push_back(shard.get());
    return shard;
  }

  EventId published(NewEvent event) {
    const Answer answer = router->call(publish(std::move(event)));
    EXPECT_FALSE(answer.error);
    return (*answer.published)->events.front().id;
  }
  std::vector<Claim> taken(std::size_t limit = 1, std::string worker = "w") {
    return router->call(claim({}, std::move(worker), limit)).claims;
  }
  static Lease lease_of(const Claim& claim) {
    return {claim.event.id, claim.event.worker_id, claim.event.attempts};
  }
  std::vector<Claim> taken_all() {
    std::vector<Claim> all;
    for (auto some = taken(100); !some.empty(); some = taken(100)) {
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  Answer list() {
    Command command;
    command.list.emplace();
    return router->call(std::move(command));
  }
  void submit(Command command, std::uint64_t token) { router->submit(std::move(command), mailbox, token); }
  void lose(int shard) {
    shards[static_cast<std::size_t>(shard)]->fall_silent();
    shards[static_cast<std::size_t>(shard)]->notice();
  }
  // Returns when so many claims wait. Every command submitted before has been tried on the shards then.
  void await_waiting(std::int64_t claims) {
    while (std::get<Metrics>(router->call(ask(MetricsRequest{})).admin).waiting_claims != claims) {
    }
  }

  ManualClock clock{kStart};  // stands still, so no lease and no wait ends by itself
  const Logger logger;
  Mailbox mailbox;
  std::vector<SwitchedShard*> shards;
  std::unique_ptr<Router> router;
};

TEST_F(RouterTest, AnExplanationKnowsThePollsOfAllShards) {
  const auto explained = [&](EventId id) { return (*router->call(why(id)).explanation)->why; };
  for (const int shard : {0, 1}) EXPECT_EQ(explained(published(placed(shard))).reason, "nobody_subscribes");
  taken();  // on one of them
  clock.advance(20s);
  std::vector<EventId> ids;
  for (const int shard : {0, 1}) ids.push_back(published(placed(shard)));
  for (const EventId id : ids) EXPECT_THAT(explained(id).explanation, HasSubstr("20s ago"));
}

TEST_F(RouterTest, EventsWithoutAKeyAreSpreadEvenly) {
  int on_first = 0;
  for (int i = 0; i < 10; ++i) on_first += shard_of(published(titled("x")), 2) == 0 ? 1 : 0;
  EXPECT_EQ(on_first, 5);
}

TEST_F(RouterTest, AnEventWithoutAKeyGoesToTheLeastLoadedShard) {
  shards[0]->fall_silent();
  submit(publish(placed(0)), 1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(shard_of(published(titled("x")), 2), 1);
  shards[0]->notice();
  mailbox.wait(1);
}

TEST_F(RouterTest, EventsWithTheSameKeyMeetOnTheShardOfTheKey) {
  for (const int shard : {0, 1, 1, 0}) {
    NewEvent event = titled("x");
    event.ordering_key = key_of(shard);
    EXPECT_EQ(shard_of(published(event), 2), shard);
  }
}

TEST_F(RouterTest, ABatchGetsACorrelationIdOfItsShardSoThatLaterEventsJoinIt) {
  for (int i = 0; i < 6; ++i) {
    Command batch = publish_all({titled("x"), titled("y")});
    batch.publication->correlated = true;
    const Answer answer = router->call(std::move(batch));
    const Published& published_batch = **answer.published;
    NewEvent later = titled("z");
    later.correlation_id = published_batch.correlation_id;
    EXPECT_EQ(shard_of(published(later), 2), shard_of(published_batch.events.front().id, 2));
  }
}

TEST_F(RouterTest, AnEventIsFoundByItsIdOnAnyShard) {
  for (int i = 0; i < 4; ++i) {
    const EventId id = published(titled("event " + std::to_string(i)));
    EXPECT_EQ((*router->call(get(id)).details)->event.title, "event " + std::to_string(i));
  }
}

TEST_F(RouterTest, ClaimsRotateOverTheShards) {
  for (int i = 0; i < 20; ++i) published(titled("x"));
  int on_first = 0;
  for (int i = 0; i < 10; ++i) on_first += shard_of(taken().front().event.id, 2) == 0 ? 1 : 0;
  EXPECT_EQ(on_first, 5);
  EXPECT_THAT(taken_all(), SizeIs(10));
}

TEST_F(RouterTest, ClaimsThatGoWithReportsDoNotStarveTheOtherShard) {
  for (int i = 0; i < 200; ++i) published(placed(i % 2));
  std::vector<Claim> held = taken();
  std::vector<int> count(2);
  for (int i = 0; i < 100; ++i) {
    count[static_cast<std::size_t>(shard_of(held.front().event.id, 2))] += 1;
    Command turn = complete(lease_of(held.front()));
    turn.claim = claim({}, "w").claim;
    held = router->call(std::move(turn)).claims;
    ASSERT_THAT(held, SizeIs(1));
  }
  EXPECT_GE(count[0], 25);
  EXPECT_GE(count[1], 25);
}

TEST_F(RouterTest, ReportsOnSeveralShardsAreAnsweredInTheirOrder) {
  for (int i = 0; i < 6; ++i) published(titled("x"));
  Command reports;
  for (const Claim& claim : taken_all()) reports.changes.push_back({lease_of(claim), Complete{}});
  std::swap(reports.changes[1], reports.changes[4]);
  reports.changes.insert(reports.changes.begin() + 2, {Lease{EventId(999), "w", 1}, Complete{}});
  const std::vector<Change> sent = reports.changes;
  const Answer answer = router->call(std::move(reports));
  ASSERT_THAT(answer.changed, SizeIs(7));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (i == 2) {
      EXPECT_EQ(answer.changed[i].error().code, ErrorCode::not_found);
    } else {
      EXPECT_EQ(answer.changed[i]->entry.id, sent[i].lease.id);
      EXPECT_EQ(answer.changed[i]->status, Status::completed);
    }
  }
}

TEST_F(RouterTest, ACommandReportsOnTwoShardsAndClaimsMore) {
  for (int i = 0; i < 2; ++i) published(placed(i));
  const std::vector<Claim> held = taken_all();
  const EventId next = published(titled("next"));
  Command turn;
  for (const Claim& claim : held) turn.changes.push_back({lease_of(claim), Complete{}});
  turn.claim = claim({}, "w").claim;
  const Answer answer = router->call(std::move(turn));
  ASSERT_THAT(answer.changed, SizeIs(2));
  EXPECT_TRUE(answer.changed[0]);
  EXPECT_TRUE(answer.changed[1]);
  EXPECT_THAT(ids(answer.claims), ElementsAre(next));
}

TEST_F(RouterTest, ALongPollIsWokenByAPublicationOnAnyShard) {
  for (int i = 0; i < 20; ++i) {
    const auto token = static_cast<std::uint64_t>(i);
    submit(claim_or_wait({}, "w"), token);
    if (i % 3 == 0) await_waiting(1);  // otherwise the event may arrive before, during or after the first try
    const EventId id = published(placed(i % 2));
    EXPECT_THAT(ids(mailbox.wait(token).claims), ElementsAre(id));
  }
}

TEST_F(RouterTest, EveryLongPollIsServedOnceAndNoEventTwice) {
  for (std::uint64_t token = 0; token < 16; ++token) submit(claim_or_wait({}, "w"), token);
  for (int i = 0; i < 16; ++i) submit(publish(titled("x")), 100 + static_cast<std::uint64_t>(i));
  std::set<EventId> seen;
  for (std::uint64_t token = 0; token < 16; ++token) {
    const Answer answer = mailbox.wait(token);
    ASSERT_THAT(answer.claims, SizeIs(1));
    EXPECT_TRUE(seen.insert(answer.claims.front().event.id).second);
  }
}

TEST_F(RouterTest, ALongPollIsAnsweredWithNothingAtItsDeadline) {
  submit(claim_or_wait({}, "w"), 1);
  await_waiting(1);
  clock.advance(20s - 1ms);
  router->recheck_clock();
  router->call(ask(MetricsRequest{}));
  EXPECT_FALSE(mailbox.has(1));
  clock.advance(1ms);
  router->recheck_clock();
  EXPECT_THAT(mailbox.wait(1).claims, IsEmpty());
}

TEST_F(RouterTest, ALongPollIsTriedOnceMoreAtItsDeadline) {
  submit(claim_or_wait({}, "w"), 1);
  await_waiting(1);
  for (SwitchedShard* shard : shards) shard->fall_silent();
  submit(publish(placed(0)), 2);
  clock.advance(20s);
  router->recheck_clock();
  while (shards[0]->held() + shards[1]->held() < 2) {
  }
  for (SwitchedShard* shard : shards) shard->come_back();
  const EventId id = (*mailbox.wait(2).published)->events.front().id;
  EXPECT_THAT(ids(mailbox.wait(1).claims), ElementsAre(id));
}

TEST_F(RouterTest, AClaimCancelledDuringItsLastTryTakesNoEvents) {
  submit(claim_or_wait({}, "w"), 1);
  await_waiting(1);
  for (SwitchedShard* shard : shards) shard->fall_silent();
  submit(publish(placed(0)), 2);
  clock.advance(20s);
  router->recheck_clock();
  router->cancel_wait(mailbox, 1);
  for (SwitchedShard* shard : shards) shard->come_back();
  const EventId id = (*mailbox.wait(2).published)->events.front().id;
  submit(claim_or_wait({}, "w"), 3);
  EXPECT_THAT(ids(mailbox.wait(3).claims), ElementsAre(id)) << "at once, or after it was released";
  EXPECT_FALSE(mailbox.has(1));
}

TEST_F(RouterTest, ACancelledClaimTakesNoEvents) {
  submit(claim_or_wait({}, "w"), 1);
  await_waiting(1);
  router->cancel_wait(mailbox, 1);
  const EventId id = published(titled("x"));
  EXPECT_THAT(ids(taken()), ElementsAre(id));
  EXPECT_FALSE(mailbox.has(1));
}

TEST_F(RouterTest, AWaitForAnEventEndsWithTheEvent) {
  for (const int shard : {0, 1}) {
    const EventId id = published(placed(shard));
    Command wait;
    wait.wait = WaitRequest{id, 20s};
    const auto token = static_cast<std::uint64_t>(shard);
    submit(std::move(wait), token);
    const std::vector<Claim> held = taken();
    EXPECT_FALSE(mailbox.has(token));
    router->call(complete(lease_of(held.front())));
    EXPECT_TRUE(mailbox.wait(token).waited);
  }
}

TEST_F(RouterTest, APublishThatWaitsReturnsTheEventAtItsEnd) {
  Command command = publish(titled("x"));
  command.wait = WaitRequest{WaitRequest::ThisPublication{}, 20s};
  submit(std::move(command), 1);
  submit(claim_or_wait({}, "w"), 2);
  const Answer claimed = mailbox.wait(2);
  ASSERT_THAT(claimed.claims, SizeIs(1));
  router->call(complete(lease_of(claimed.claims.front())));
  const Answer ended = mailbox.wait(1);
  EXPECT_TRUE(ended.waited);
  EXPECT_EQ((*ended.published)->events.front().id, claimed.claims.front().event.id);
}

TEST_F(RouterTest, AWaitForAMissingEventIsRefused) {
  Command wait;
  wait.wait = WaitRequest{EventId(4711), 20s};
  EXPECT_EQ(router->call(std::move(wait)).error->code, ErrorCode::not_found);
}

TEST_F(RouterTest, ACorrelationHasEndedWhenItsEventsHaveEndedOnAllShards) {
  for (const int shard : {0, 1}) {
    NewEvent event = titled("x");
    event.correlation_id = "together";
    event.ordering_key = key_of(shard);  // which chooses the shard, so that the events are on different ones
    published(event);
  }
  Command wait;
  wait.wait = WaitRequest{WaitRequest::Correlated{"together"}, 20s};
  submit(std::move(wait), 1);
  const std::vector<Claim> held = taken_all();
  ASSERT_THAT(held, SizeIs(2));
  router->call(complete(lease_of(held[0])));
  router->call(ask(MetricsRequest{}));
  EXPECT_FALSE(mailbox.has(1));
  router->call(complete(lease_of(held[1])));
  EXPECT_TRUE(mailbox.wait(1).waited);
  const Answer seen = router->call(ask(CorrelationQuery{"together", {}, 10}));
  EXPECT_EQ((*std::get_if<Result<Correlation>>(&seen.admin))->completed, 2);
}

TEST_F(RouterTest, AWindowCountsTheEventsHeldOnAllShards) {
  for (int i = 0; i < 8; ++i) published(placed(i % 2));
  std::vector<Claim> held;
  const auto stream = [&](std::uint64_t token) {
    Command command = claim_or_wait({}, "w", 3);
    command.claim->window = 3;
    submit(std::move(command), token);
  };
  std::uint64_t token = 1;
  while (held.size() < 3) {
    stream(token);
    const Answer answer = mailbox.wait(token++);
    held.insert(held.end(), answer.claims.begin(), answer.claims.end());
  }
  EXPECT_THAT(held, SizeIs(3)) << "from both shards together";
  stream(token);
  await_waiting(1);
  EXPECT_FALSE(mailbox.has(token));
  router->call(complete(lease_of(held.front())));
  EXPECT_THAT(mailbox.wait(token).claims, SizeIs(1)) << "as many as were reported";
}

TEST_F(RouterTest, ListsCoverAllShards) {
  for (int i = 0; i < 5; ++i) published(titled("x"));
  const Answer all = list();
  EXPECT_EQ((*all.page)->total, 5);
  EXPECT_TRUE(std::is_sorted((*all.page)->events.begin(), (*all.page)->events.end(),
                             [](const Event& a, const Event& b) { return a.id < b.id; }));
  EXPECT_THAT(all.missing, IsEmpty());
}

TEST_F(RouterTest, AListWithALargeOffsetIsRefused) {
  for (const auto& [offset, taken_up] : {std::pair(99'999, true), {100'000, true}, {100'001, false}}) {
    Command command;
    command.list.emplace();
    command.list->offset = offset;
    EXPECT_EQ(router->call(std::move(command)).page->has_value(), taken_up) << offset;
  }
}

TEST_F(RouterTest, AListOfWholeEventsTakesNoOffset) {
  const auto list = [&](std::int64_t offset) {
    Command command;
    command.list = ListFilter{.offset = offset, .include = {.payload = true}};
    return *router->call(std::move(command)).page;
  };
  EXPECT_TRUE(list(0));
  const auto refused = list(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "offset");
}

TEST_F(RouterTest, OutstandingCommandsAreAnsweredAtOnceWhenTheirShardBecomesUnavailable) {
  shards[1]->fall_silent();
  submit(publish(placed(1)), 1);
  submit(get(EventId(3)), 2);
  submit(claim({}, "w"), 3);
  submit(claim({}, "w"), 4);
  while (shards[1]->held() < 3) std::this_thread::yield();
  shards[1]->notice();
  EXPECT_EQ(mailbox.wait(1).error->code, ErrorCode::unknown_outcome);
  EXPECT_EQ(mailbox.wait(2).error->code, ErrorCode::unavailable);
  EXPECT_FALSE(mailbox.wait(3).error) << "the other shard has nothing, and says so";
  EXPECT_FALSE(mailbox.wait(4).error);
}

TEST_F(RouterTest, WithOneShardUnavailableTheOtherWorksAndCommandsForTheFirstAreRefused) {
  const EventId there = published(placed(1));
  lose(1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(shard_of(published(titled("x")), 2), 0) << "goes elsewhere";
  EXPECT_THAT(taken_all(), SizeIs(4));

  const Answer keyed = router->call(publish(placed(1)));
  ASSERT_TRUE(keyed.error);
  EXPECT_EQ(keyed.error->code, ErrorCode::unavailable);
  EXPECT_THAT(keyed.error->message, HasSubstr("Shard 1 (memory-1) is unavailable"));
  EXPECT_EQ(router->call(get(there)).error->code, ErrorCode::unavailable);
  EXPECT_EQ(router->call(pause("main")).error->code, ErrorCode::unavailable);
  EXPECT_EQ(router->call(complete({there, "w", 1})).error->code, ErrorCode::unavailable);

  const Answer all = list();
  ASSERT_FALSE(all.error);
  EXPECT_EQ((*all.page)->total, 4);
  EXPECT_THAT(all.missing, ElementsAre(1));
  EXPECT_THAT(router->call(ask(QueuesQuery{})).missing, ElementsAre(1));
  const Answer measured = router->call(ask(MetricsRequest{}));
  EXPECT_THAT(measured.missing, ElementsAre(1));
  const auto& metrics = std::get<Metrics>(measured.admin);
  ASSERT_THAT(metrics.shards, SizeIs(2));
  EXPECT_TRUE(metrics.shards[0].up);
  EXPECT_FALSE(metrics.shards[1].up);
}

TEST_F(RouterTest, CommandsForTheOtherShardAreNotSentToAShardThatIsUnavailable) {
  lose(1);
  for (int i = 0; i < 100; ++i) {
    const EventId id = published(i % 2 == 0 ? placed(0) : titled("without a key"));
    submit(claim_or_wait({}, "w"), static_cast<std::uint64_t>(i));
    const auto claims = mailbox.wait(static_cast<std::uint64_t>(i)).claims;
    ASSERT_THAT(ids(claims), ElementsAre(id));
    EXPECT_FALSE(router->call(complete(lease_of(claims.front()))).error);
    EXPECT_FALSE(router->call(get(id)).error);
  }
  EXPECT_EQ(shards[1]->held(), 0U);
}

TEST_F(RouterTest, AShardThatIsUpAgainIsUsedAndWakesWaitingClaims) {
  const EventId there = published(placed(1));
  lose(1);
  submit(claim_or_wait({}, "w"), 1);
  await_waiting(1);
  shards[1]->come_back();
  EXPECT_THAT(ids(mailbox.wait(1).claims), ElementsAre(there));
  EXPECT_THAT(list().missing, IsEmpty());
}

TEST_F(RouterTest, EventsOfALateAnswerAreReleased) {
  const EventId id = published(placed(1));
  shards[1]->fall_silent();
  submit(claim({}, "w"), 1);
  submit(claim({}, "w"), 2);
  while (shards[1]->held() < 2) std::this_thread::yield();
  shards[1]->notice();
  EXPECT_THAT(mailbox.wait(1).claims, IsEmpty());
  EXPECT_THAT(mailbox.wait(2).claims, IsEmpty());
  shards[1]->come_back();
  // The late claim takes the event, and the router releases it.
  submit(claim_or_wait({}, "v"), 3);
  EXPECT_THAT(ids(mailbox.wait(3).claims), ElementsAre(id));
}

class RouterTimeoutTest : public RouterTest {
 protected:
  RouterTimeoutTest() : RouterTest({.answer_timeout = 1s}) {}  // long enough for a shard that answers
};

TEST_F(RouterTimeoutTest, ACommandThatTimesOutIsAnsweredAndItsCommitThreadGetsNoMoreUntilItAnswers) {
  shards[1]->fall_silent();
  submit(publish(placed(1)), 1);
  submit(get(EventId(3)), 2);
  EXPECT_EQ(mailbox.wait(1).error->code, ErrorCode::unknown_outcome);
  EXPECT_EQ(mailbox.wait(2).error->code, ErrorCode::unavailable);

  const Answer refused = router->call(publish(placed(1)));
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error->message, HasSubstr("Shard 1 (memory-1) has not answered"));
  EXPECT_EQ(shards[1]->held(), 2U) << "nothing was queued behind the command that hangs";
  // On a loaded machine, the other shard may need more than answer_timeout, too.
  Answer elsewhere = router->call(publish(titled("x")));
  while (elsewhere.error) elsewhere = router->call(publish(titled("x")));
  EXPECT_EQ(shard_of((*elsewhere.published)->events.front().id, 2), 0) << "goes elsewhere";
  EXPECT_EQ(shards[1]->held(), 2U);

  shards[1]->come_back();
  while (router->call(publish(placed(1))).error) std::this_thread::yield();
}

TEST_F(RouterTest, WaitingCallsFailWhenAllShardsAreUnavailable) {
  submit(claim_or_wait({}, "w"), 1);
  const EventId id = published(placed(0));
  EXPECT_THAT(mailbox.wait(1).claims, SizeIs(1));
  submit(claim_or_wait({}, "w"), 2);
  Command wait;
  wait.wait = WaitRequest{id, 20s};
  submit(std::move(wait), 3);
  await_waiting(1);
  lose(0);
  EXPECT_EQ(mailbox.wait(3).error->code, ErrorCode::unavailable);
  EXPECT_FALSE(mailbox.has(2)) << "the other shard may still have events";
  lose(1);
  EXPECT_EQ(mailbox.wait(2).error->code, ErrorCode::unavailable);
  EXPECT_EQ(router->call(claim_or_wait({}, "w")).error->code, ErrorCode::unavailable);
  EXPECT_EQ(router->call(publish(titled("x"))).error->code, ErrorCode::unavailable);
  EXPECT_EQ(list().error->code, ErrorCode::unavailable);
}

TEST_F(RouterTest, AProbeSucceedsWhileOneShardIsUp) {
  Command probe;
  probe.probe = true;
  EXPECT_FALSE(router->call(probe).error);
  lose(1);
  EXPECT_FALSE(router->call(probe).error);
  lose(0);
  EXPECT_TRUE(router->call(probe).error);
}

TEST_F(RouterTest, APausedQueueGivesNothingOnAnyShardUntilItIsResumed) {
  NewEvent event = placed(1);
  event.queue = "q";
  published(event);
  ASSERT_TRUE(std::get<Result<QueueChanged>>(router->call(pause("q")).admin));
  NewEvent first_there = placed(0);
  first_there.queue = "q";
  published(first_there);  // on a shard that did not have the queue
  EXPECT_THAT(router->call(claim_in("q", "w", 9)).claims, IsEmpty());
  submit(claim_in_or_wait("q", "w"), 1);
  submit(claim_in_or_wait("q", "w"), 2);
  await_waiting(2);
  router->call(resume("q"));
  EXPECT_THAT(mailbox.wait(1).claims, SizeIs(1));
  EXPECT_THAT(mailbox.wait(2).claims, SizeIs(1));
}

TEST_F(RouterTest, AChangeOnAllShardsIsOneLogEntryAlsoWhereItCreatesTheQueue) {
  NewEvent event = placed(0);
  event.queue = "orders";
  published(event);
  router->call(set_status("orders", QueueStatus::paused, "database moves", "ann"));
  router->call(configure("orders", {.max_queue_depth = 100}));

  const Answer answer = router->call(ask(QueueLogQuery{{"orders", "", 100}}));

  const auto log = admin_answer<std::vector<QueueLogEntry>>(answer).value();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].action, QueueAction::configured);
  EXPECT_EQ(log[1].action, QueueAction::paused);
  EXPECT_EQ(log[1].by, "ann");
  EXPECT_EQ(log[1].reason, "database moves");
}

TEST_F(RouterTest, TheLogOfAQueueThatNoShardHasIsNotFound) {
  const Answer answer = router->call(ask(QueueLogQuery{{"none", "", 100}}));

  EXPECT_EQ(admin_answer<std::vector<QueueLogEntry>>(answer).error().code, ErrorCode::not_found);
}

TEST_F(RouterTest, ADrainThatWaitsReturnsWhenTheQueueIsEmptyOnAllShards) {
  for (const int shard : {0, 1}) published(placed(shard));
  const std::vector<Claim> held = taken_all();
  Command draining = drain("main");
  draining.wait = WaitRequest{WaitRequest::Drained{"main"}, 0ms};
  EXPECT_FALSE(router->call(draining).waited);
  draining.wait->timeout = 20s;
  submit(draining, 1);
  for (const Claim& claim : held) {
    EXPECT_FALSE(mailbox.has(1));
    router->call(complete(lease_of(claim)));
  }
  const Answer answer = mailbox.wait(1);
  EXPECT_TRUE(answer.waited);
  EXPECT_EQ(std::get<Result<QueueChanged>>(answer.admin)->row.status, QueueStatus::draining);
}

TEST_F(RouterTest, ADepthLimitHoldsForAllShardsTogether) {
  QueueConfig config;
  config.max_queue_depth = 5;
  ASSERT_TRUE(std::get<Result<QueueChanged>>(router->call(configure("main", config)).admin));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(*router->call(publish(titled("x"))).published) << i;
  const Answer refused = router->call(publish(titled("x")));
  ASSERT_FALSE(*refused.published);
  EXPECT_EQ(refused.published->error().code, ErrorCode::queue_full);
  EXPECT_EQ((*list().page)->total, 5);
}

TEST_F(RouterTest, AReplayCoversAllShardsAndContinuesFromItsCursor) {
  for (int i = 0; i < 6; ++i) published(placed(i % 2));
  for (const Claim& claim : taken_all()) router->call(complete(lease_of(claim)));
  std::set<EventId> matched;
  EndedFilter filter;
  filter.queue = "main";
  filter.limit = 2;
  for (int pages = 0; pages < 9; ++pages) {
    const Answer answer = router->call(replay(filter, {}, true));
    const Revived& page = *std::get<Result<Revived>>(answer.admin);
    EXPECT_LE(page.matched.size(), 2U);
    for (const EventId id : page.matched) EXPECT_TRUE(matched.insert(id).second) << "twice";
    if (!page.more) break;
    ASSERT_TRUE(page.next);
    filter.after = page.next;
  }
  EXPECT_THAT(matched, SizeIs(6));
}

TEST_F(RouterTest, AReplaySinceACheckpointOfOneShardCoversAllShards) {
  published(placed(0));
  for (const Claim& claim : taken_all()) router->call(complete(lease_of(claim)));
  clock.advance(1s);
  const Answer made = router->call(make_checkpoint("main"));
  const std::string id = std::get<Result<QueueChanged>>(made.admin)->checkpoint->id;
  for (int i = 0; i < 2; ++i) published(placed(i));
  for (const Claim& claim : taken_all()) router->call(complete(lease_of(claim)));
  EndedFilter filter;
  filter.queue = "main";
  const Answer answer = router->call(replay(filter, id));
  EXPECT_THAT(std::get<Result<Revived>>(answer.admin)->matched, SizeIs(2));
}

TEST_F(RouterTest, ACheckpointHasOneIdOnAllShardsAndIsDeletedOnAll) {
  for (int i = 0; i < 2; ++i) published(placed(i));
  const Answer made = router->call(make_checkpoint("main"));
  const std::string id = std::get<Result<QueueChanged>>(made.admin)->checkpoint->id;
  const auto list = [&] {
    return *std::get<Result<std::vector<Checkpoint>>>(router->call(ask(CheckpointsQuery{"main"})).admin);
  };
  EXPECT_THAT(list(), SizeIs(1));

  ASSERT_TRUE(std::get<Result<QueueChanged>>(router->call(delete_checkpoint("main", id)).admin));

  EXPECT_THAT(list(), IsEmpty());
}

TEST_F(RouterTest, AQueueIsRemovedFromAllShardsOrFromNone) {
  ASSERT_TRUE(std::get<Result<QueueChanged>>(router->call(configure("q", {.max_retries = 7})).admin));
  NewEvent event = placed(1);
  event.queue = "q";
  const EventId id = published(event);

  const Answer refused = router->call(remove_queue("q"));

  EXPECT_EQ(std::get<Result<QueueChanged>>(refused.admin).error().code, ErrorCode::conflict);
  const auto config = [&] {
    const Answer answer = router->call(ask(QueueQuery{"q", 0}));
    const auto& queue = std::get<Result<QueueDocument>>(answer.admin);
    return queue ? std::optional(queue->row.config) : std::nullopt;
  };
  EXPECT_EQ(config(), QueueConfig{.max_retries = 7});
  router->call(cancel(id));
  router->call(ask(Removal{{id}, std::nullopt}));
  ASSERT_TRUE(std::get<Result<QueueChanged>>(router->call(remove_queue("q")).admin));
  EXPECT_EQ(config(), std::nullopt);
}

TEST_F(RouterTest, EndingAllWaitsAnswersWaitingClaimsAndLaterOnesDoNotWait) {
  submit(claim_or_wait({}, "w"), 1);
  await_waiting(1);
  router->end_all_waits();
  EXPECT_THAT(mailbox.wait(1).claims, IsEmpty());
  EXPECT_THAT(router->call(claim_or_wait({}, "w")).claims, IsEmpty());
}

TEST_F(RouterTest, CommandsAreRefusedAfterTheStop) {
  submit(claim_or_wait({}, "w"), 1);
  router->stop();
  EXPECT_TRUE(mailbox.has(1));
  EXPECT_EQ(router->call(publish(titled("x"))).error->code, ErrorCode::unavailable);
  router->stop();
}

TEST_F(RouterTest, ASilentShardDoesNotDelayTheStop) {
  shards[1]->fall_silent();
  submit(publish(placed(1)), 1);
  while (shards[1]->held() == 0) std::this_thread::yield();
  shards[1]->notice();
  router->stop();
  EXPECT_EQ(mailbox.wait(1).error->code, ErrorCode::unknown_outcome);
}

}  // namespace
}  // namespace eventq
