// borrowed_engine_test.cc: what the callers of a server get when it stops and its engine continues, on every
// store.
#include "serve/borrowed_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "support/commands.h"
#include "support/local_server.h"
#include "support/mailbox.h"
#include "support/manual_clock.h"
#include "support/open_engine.h"
#include "support/test_store.h"
#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

// The real engine, whose answers reach the callers only when the test lets them.
class DelayedEngine final : public Engine {
 public:
  explicit DelayedEngine(Engine& inner) : inner_(inner) {}

  void submit(Command command, AnswerSink& sink, std::uint64_t token) override {
    if (before_submit) std::exchange(before_submit, {})();
    held_.push_back({{&sink, token}, std::move(command)});
  }
  void run_held() {
    for (Envelope<Command>& request : std::exchange(held_, {})) {
      eventq::deliver({{request.reply_to, inner_.call(std::move(request.content))}});
    }
  }
  // Counts the waits that it could end. It ends none, as if each cancellation came too late.
  void cancel_wait(AnswerSink&, std::uint64_t token) override {
    cancelled += std::count_if(held_.begin(), held_.end(), [&](const Envelope<Command>& request) {
      return request.reply_to.token == token;
    });
  }
  void end_all_waits() override {}
  void recheck_clock() override {}
  void stop() override {}

  std::function<void()> before_submit;  // called once, when the next command arrives
  std::ptrdiff_t cancelled = 0;

 private:
  Engine& inner_;
  std::vector<Envelope<Command>> held_;
};

class BorrowedEngineTest : public testing::Test {
 protected:
  ~BorrowedEngineTest() override { engine->stop(); }

  std::unique_ptr<Engine> open() {
    Options options;
    options.clock = &clock;
    return open_engine(store.url(), options).value();
  }

  EventId publish_event() {
    return (*engine->call(publish({.title = "a", .tags = {"a"}})).published)->events.front().id;
  }
  Claim claim_event() { return engine->call(claim({"a"}, "w:1")).claims.at(0); }
  static Lease lease_of(const Claim& claim) {
    return {claim.event.id, claim.event.worker_id, claim.event.attempts};
  }
  Status status_of(EventId id) { return (*engine->call(get(id)).details)->event.status; }

  const TestStore store;
  ManualClock clock{kStart};  // never moves by itself, so no lease and no wait ends by itself
  Mailbox mailbox;
  Mailbox others;
  std::unique_ptr<Engine> engine = open();
  BorrowedEngine borrowed{*engine};
};

TEST_F(BorrowedEngineTest, AWaitingClaimOfTheServerEndsAndOtherCallersWaitOn) {
  borrowed.submit(claim_or_wait({"a"}, "w:1"), mailbox, 1);
  engine->submit(claim_or_wait({"a"}, "w:2"), others, 1);
  settle(*engine);
  ASSERT_EQ(mailbox.size(), 0U);

  borrowed.end_all_waits();

  const Answer ended = mailbox.wait(1);
  EXPECT_FALSE(ended.error);
  EXPECT_THAT(ended.claims, IsEmpty());
  settle(*engine);
  EXPECT_FALSE(others.has(1));
  const EventId id = publish_event();
  EXPECT_EQ(others.wait(1).claims.at(0).event.id, id);
}

TEST_F(BorrowedEngineTest, AReportWhoseClaimStillWaitsIsAnsweredWhenWaitsEnd) {
  publish_event();
  Command command = complete(lease_of(claim_event()));
  command.claim = claim_or_wait({"a"}, "w:1").claim;
  borrowed.submit(std::move(command), mailbox, 1);
  settle(*engine);
  ASSERT_FALSE(mailbox.has(1));

  borrowed.end_all_waits();

  const Answer answer = mailbox.wait(1);
  EXPECT_FALSE(answer.error);
  ASSERT_THAT(answer.changed, SizeIs(1));
  EXPECT_EQ(answer.changed[0]->status, Status::completed);
}

TEST_F(BorrowedEngineTest, AReportThatWaitsForEventsGetsTheNextOne) {
  publish_event();
  Command command = complete(lease_of(claim_event()));
  command.claim = claim_or_wait({"a"}, "w:1").claim;
  borrowed.submit(std::move(command), mailbox, 1);
  settle(*engine);

  const EventId next = publish_event();

  const Answer answer = mailbox.wait(1);
  ASSERT_THAT(answer.claims, SizeIs(1));
  EXPECT_EQ(answer.claims[0].event.id, next);
  EXPECT_EQ(answer.changed.at(0)->status, Status::completed);
}

TEST_F(BorrowedEngineTest, APublicationThatWaitsIsAnsweredAtItsEnd) {
  Command command = publish({.title = "a", .tags = {"a"}});
  command.wait = WaitRequest{WaitRequest::ThisPublication{}, 20s};
  borrowed.submit(std::move(command), mailbox, 1);
  settle(*engine);
  ASSERT_FALSE(mailbox.has(1));

  engine->call(complete(lease_of(claim_event())));

  const Answer answer = mailbox.wait(1);
  EXPECT_TRUE(answer.waited);
  EXPECT_THAT((*answer.published)->events, SizeIs(1));
}

TEST_F(BorrowedEngineTest, APublicationThatWaitsIsAnsweredWithItsEventWhenWaitsEnd) {
  Command command = publish({.title = "a", .tags = {"a"}});
  command.wait = WaitRequest{WaitRequest::ThisPublication{}, 20s};
  borrowed.submit(std::move(command), mailbox, 1);
  settle(*engine);

  borrowed.end_all_waits();

  const Answer answer = mailbox.wait(1);
  EXPECT_FALSE(answer.error);
  EXPECT_FALSE(answer.waited);
  EXPECT_THAT((*answer.published)->events, SizeIs(1));
}

TEST_F(BorrowedEngineTest, AWaitForAnEndIsUnavailableWhenWaitsEnd) {
  Command command;
  command.wait = WaitRequest{publish_event(), 20s};
  borrowed.submit(std::move(command), mailbox, 1);
  settle(*engine);

  borrowed.end_all_waits();

  EXPECT_EQ(mailbox.wait(1).error->code, ErrorCode::unavailable);
}

TEST_F(BorrowedEngineTest, AfterItsStopCommandsAreRefusedAndTheEngineContinues) {
  borrowed.stop();

  EXPECT_EQ(borrowed.call(publish({.title = "a", .tags = {"a"}})).error->code, ErrorCode::unavailable);
  EXPECT_EQ(status_of(publish_event()), Status::pending);
}

TEST_F(BorrowedEngineTest, AnEventClaimedForACallerThatLeftIsReleased) {
  DelayedEngine delayed(*engine);
  BorrowedEngine server(delayed);
  const EventId id = publish_event();
  server.submit(claim_or_wait({"a"}, "w:1"), mailbox, 1);
  server.cancel_wait(mailbox, 1);

  delayed.run_held();  // the claim, whose answer is no longer wanted
  ASSERT_EQ(status_of(id), Status::processing);
  delayed.run_held();  // the release

  EXPECT_EQ(status_of(id), Status::pending);
  EXPECT_EQ(mailbox.size(), 0U);
}

TEST_F(BorrowedEngineTest, AWaitThatEndsBeforeTheEngineHasItEndsInTheEngine) {
  DelayedEngine delayed(*engine);
  BorrowedEngine server(delayed);
  delayed.before_submit = [&] { server.cancel_wait(mailbox, 1); };
  server.submit(claim_or_wait({"a"}, "w:1"), mailbox, 1);
  EXPECT_EQ(delayed.cancelled, 1);

  delayed.before_submit = [&] { server.end_all_waits(); };
  server.submit(claim_or_wait({"a"}, "w:1"), mailbox, 2);
  EXPECT_EQ(delayed.cancelled, 2);
  EXPECT_THAT(mailbox.wait(2).claims, IsEmpty());
}

TEST_F(BorrowedEngineTest, AWaitAfterAReportThatEndsBeforeTheEngineHasItEndsInTheEngine) {
  DelayedEngine delayed(*engine);
  BorrowedEngine server(delayed);
  publish_event();
  Command command = complete(lease_of(claim_event()));
  command.claim = claim_or_wait({"a"}, "w:1").claim;
  server.submit(std::move(command), mailbox, 1);
  delayed.before_submit = [&] { server.end_all_waits(); };

  delayed.run_held();  // the report, after which the server submits the claim

  EXPECT_EQ(delayed.cancelled, 1);
  EXPECT_EQ(mailbox.wait(1).changed.at(0)->status, Status::completed);
}

TEST_F(BorrowedEngineTest, AnEventClaimedForAServerThatStoppedIsReleased) {
  DelayedEngine delayed(*engine);
  BorrowedEngine server(delayed);
  const EventId id = publish_event();
  server.submit(claim({"a"}, "w:1"), mailbox, 1);
  server.stop();

  delayed.run_held();
  delayed.run_held();

  EXPECT_EQ(status_of(id), Status::pending);
  EXPECT_EQ(mailbox.size(), 0U);
}

}  // namespace
}  // namespace eventq
