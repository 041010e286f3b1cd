// engine_test.cc: an engine under many threads: no event is lost, none is leased twice, and every waiter is
// answered.
#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/commands.h"
#include "support/mailbox.h"
#include "support/manual_clock.h"
#include "support/open_engine.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class EngineTest : public testing::Test {
 protected:
  std::unique_ptr<Engine> open() {
    Options options;
    options.clock = &clock;
    return open_engine("sqlite:" + directory.file("events.db"), options).value();
  }

  Event event(EventId id) { return (*engine->call(get(id)).details)->event; }
  std::int64_t count(Status status) {
    Command command;
    command.list.emplace();
    command.list->status = status;
    return (*engine->call(std::move(command)).page)->total;
  }

  const TemporaryDirectory directory;
  ManualClock clock{kStart};  // never moves by itself, so no lease and no wait ends by itself
  Mailbox mailbox;
  std::unique_ptr<Engine> engine = open();
};

// What several workers did, added up.
class Worked {
 public:
  explicit Worked(std::ptrdiff_t events) : left_(events) {}

  void claimed(EventId id) {
    const std::scoped_lock lock(mutex_);
    EXPECT_TRUE(ids_.insert(id).second)
        << "event " << static_cast<std::int64_t>(id) << " was handed out twice";
  }
  void completed() { left_.count_down(); }
  void await_all_completed() { left_.wait(); }
  std::size_t different() {
    const std::scoped_lock lock(mutex_);
    return ids_.size();
  }

 private:
  std::latch left_;
  std::mutex mutex_;
  std::set<EventId> ids_;
};

// Claims and completes events until end_all_waits() answers with none.
void work(Engine& engine, const std::string& worker_id, Worked& worked) {
  for (;;) {
    const Answer taken = engine.call(claim_or_wait({"a"}, worker_id, 5));
    ASSERT_FALSE(taken.error);
    if (taken.claims.empty()) return;
    for (const Claim& claim : taken.claims) {
      worked.claimed(claim.event.id);
      const Answer reported = engine.call(complete({claim.event.id, worker_id, claim.event.attempts}));
      ASSERT_EQ(reported.changed.at(0)->status, Status::completed);
      worked.completed();
    }
  }
}

TEST_F(EngineTest, WithEightPublishersAndEightWorkersEveryEventIsWorkedOnOnce) {
  constexpr int kThreads = 8;
  constexpr int kEventsEach = 150;
  Worked worked(kThreads * kEventsEach);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, &worked, i] { work(*engine, "host:" + std::to_string(i + 1), worked); });
    threads.emplace_back([this] {
      for (int n = 0; n < kEventsEach; ++n) {
        ASSERT_FALSE(engine->call(publish({.title = "mail", .tags = {"a", "b"}})).error);
      }
    });
  }

  worked.await_all_completed();
  engine->end_all_waits();
  threads.clear();  // joins

  EXPECT_EQ(worked.different(), 1200U);
  EXPECT_EQ(count(Status::completed), 1200);
  EXPECT_EQ(count(Status::pending), 0);
  EXPECT_EQ(count(Status::processing), 0);
}

TEST_F(EngineTest, AWorkerOfOneTagDoesNotHideWaitingEventsOfAnother) {
  const auto unattended = [&] {
    const Answer answer = engine->call({.admin = MetricsRequest{}});
    return std::get<Metrics>(answer.admin).queues.at(0).unattended;
  };
  for (const char* tag : {"a", "b", "b"}) engine->call(publish({.title = tag, .tags = {tag}}));
  engine->call(publish({.title = "both", .tags = {"a", "b"}}));
  EXPECT_EQ(unattended(), 4);

  engine->call(claim({"a"}, "host:1"));
  EXPECT_EQ(unattended(), 2);

  engine->call(claim({"c", "b"}, "host:2"));
  EXPECT_EQ(unattended(), 0);

  clock.advance(31s);  // both hold an event without a sign of life, and ask for no other
  EXPECT_EQ(unattended(), 2);
  engine->call(claim({}, "host:3"));
  EXPECT_EQ(unattended(), 0);
}

TEST_F(EngineTest, MetricsOfAStoppedEngineAreRefused) {
  engine->stop();

  const Answer answer = engine->call({.admin = MetricsRequest{}});
  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->code, ErrorCode::unavailable);
}

TEST_F(EngineTest, AWorkersReportIsSeenByAReadMadeAfterItsAnswer) {
  engine->call(publish({.title = "mail", .tags = {"a"}}));
  engine->call(claim({"a"}, "host:1"));

  engine->call(complete({EventId{1}, "host:1", 1}));

  EXPECT_EQ(event(EventId{1}).status, Status::completed);
}

TEST_F(EngineTest, StoppingFinishesSubmittedCommands) {
  for (std::uint64_t token = 1; token <= 3000; ++token) {
    engine->submit(publish({.title = "mail", .tags = {"a"}}), mailbox, token);
  }

  engine->stop();

  EXPECT_EQ(mailbox.size(), 3000U);
  engine.reset();
  engine = open();
  EXPECT_EQ(count(Status::pending), 3000);
}

TEST_F(EngineTest, StoppingAnswersWaitingClaimsWithNothing) {
  engine->submit(claim_or_wait({"a"}, "host:1"), mailbox, 1);

  engine->stop();

  ASSERT_TRUE(mailbox.has(1));
  EXPECT_THAT(mailbox.wait(1).claims, IsEmpty());
  EXPECT_FALSE(mailbox.wait(1).error);
}

TEST_F(EngineTest, StoppingTwiceIsStoppingOnce) {
  engine->stop();
  engine->stop();

  EXPECT_EQ(engine->call(claim({"a"}, "host:1")).error->code, ErrorCode::unavailable);
  EXPECT_EQ(engine->call(get(EventId{1})).error->code, ErrorCode::unavailable);
}

TEST_F(EngineTest, EndingAllWaitsAnswersLongPollsAtOnceAndLaterOnesDoNotWait) {
  engine->submit(claim_or_wait({"a"}, "host:1"), mailbox, 1);
  engine->submit(claim_or_wait({"b"}, "host:2"), mailbox, 2);

  engine->end_all_waits();

  EXPECT_THAT(mailbox.wait(1).claims, IsEmpty());
  EXPECT_THAT(mailbox.wait(2).claims, IsEmpty());
  EXPECT_THAT(engine->call(claim_or_wait({"a"}, "host:1")).claims, IsEmpty());
}

TEST_F(EngineTest, AfterEndingAllWaitsEventsAreStillPublishedAndClaimed) {
  engine->end_all_waits();

  engine->call(publish({.title = "mail", .tags = {"a"}}));

  EXPECT_THAT(titles(engine->call(claim_or_wait({"a"}, "host:1")).claims), ElementsAre("mail"));
}

TEST_F(EngineTest, ALeaseThatEndsServesALongPollWhenTheClockIsRechecked) {
  engine->call(publish({.title = "mail", .tags = {"a"}}));
  engine->call(claim({"a"}, "host:1"));
  engine->submit(claim_or_wait({"a"}, "host:2"), mailbox, 1);
  engine->call(claim({"b"}, "host:3"));  // runs after the long poll, so that one waits now
  EXPECT_FALSE(mailbox.has(1));

  clock.advance(60s);
  engine->recheck_clock();

  EXPECT_EQ(mailbox.wait(1).claims.at(0).event.attempts, 2);
}

TEST_F(EngineTest, ALongPollEndsWhenTheClockIsRecheckedAfterItsDeadline) {
  engine->submit(claim_or_wait({"a"}, "host:1"), mailbox, 1);
  engine->call(claim({"b"}, "host:2"));
  EXPECT_FALSE(mailbox.has(1));

  clock.advance(20s);
  engine->recheck_clock();

  EXPECT_THAT(mailbox.wait(1).claims, IsEmpty());
}

TEST_F(EngineTest, AnEventLeasedByAnEarlierEngineIsClaimedAfterItsLease) {
  engine->call(publish({.title = "poison", .tags = {"a"}}));
  engine->call(claim({"a"}, "host:1"));
  engine.reset();
  clock.advance(60s);
  engine = open();

  EXPECT_EQ(engine->call(claim({"a"}, "host:2")).claims.at(0).event.attempts, 2);
}

// If a claim is cancelled at the moment it is served, the event is either delivered or not claimed.
TEST_F(EngineTest, AnEventIsNotLostWhenItsClaimIsCancelled) {
  constexpr std::uint64_t kRounds = 200;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    engine->submit(claim_or_wait({"a"}, "host:1"), mailbox, round);
    std::latch together(2);
    std::jthread forgetter([&] {
      together.arrive_and_wait();
      engine->cancel_wait(mailbox, round);
    });
    together.arrive_and_wait();
    const Answer published = engine->call(publish({.title = "mail", .tags = {"a"}}));
    forgetter.join();
    const EventId id = (*published.published)->events.at(0).id;

    // The commit thread runs commands and cancellations in order, so after this answer the round is finished.
    const std::vector<EventId> left = ids(engine->call(claim({"a"}, "host:2")).claims);
    const std::vector<EventId> taken =
        mailbox.has(round) ? ids(mailbox.wait(round).claims) : std::vector<EventId>();

    ASSERT_EQ(left.size() + taken.size(), 1U) << "round " << round;
    ASSERT_EQ((left.empty() ? taken : left).at(0), id) << "round " << round;
  }
}

TEST_F(EngineTest, ManyReadersAndAWriterDoNotDisturbEachOther) {
  const EventId id = (*engine->call(publish({.title = "mail", .tags = {"a"}})).published)->events.at(0).id;
  std::atomic<bool> done = false;
  std::vector<std::jthread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (!done) ASSERT_EQ(event(id).title, "mail");
    });
  }

  for (int i = 0; i < 200; ++i) ASSERT_FALSE(engine->call(publish({.title = "more", .tags = {"b"}})).error);
  done = true;
  readers.clear();  // joins

  EXPECT_EQ(count(Status::pending), 201);
}

}  // namespace
}  // namespace eventq
