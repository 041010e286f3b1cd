// random_test.cc: random batches, and invariants after each of them. No claim waits while a matching event is
// ready. No waiter is served before an earlier one for the same event. No command is answered twice. No event
// is leased twice at the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "core/core.h"
#include "support/core_driver.h"
#include "support/rounds.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

struct Run {
  StoreKind store;
  int seeds;  // each seed runs on a queue of its own
  int batches_per_seed;
};

// Makes random commands, and records which claims wait and which worker holds which event.
class Gambler {
 public:
  Gambler(StoreKind store, std::uint32_t seed) : driver_(store, policy()), random_(seed) {}

  void play_batch() {
    advance_clock();
    if (chance(5)) hungry_ = !hungry_;
    if (chance(10)) driver_.store().refuse_commit(Error{ErrorCode::no_space, "The disk is full.", ""});
    std::vector<Envelope<Command>> requests;
    for (int i = number(0, 10); i > 0; --i) requests.push_back(random_request());
    book(driver_.core().run(std::move(requests)));
    driver_.store().refuse_commit(std::nullopt);
    if (chance(10)) forget_somebody();
    // The next commit does what a failed one left undone.
    book(driver_.core().run({}));
  }

  // A claim made now finds no event that a waiting claim should have been given.
  void expect_nobody_waits_for_a_ready_event() {
    const std::map<std::uint64_t, Waiting> waiting = waiting_;
    for (const auto& [token, waiter] : waiting) {
      EXPECT_GT(waiter.deadline, driver_.clock().now()) << "command " << token << " waits past its time";
      std::vector<Envelope<Command>> probe;
      probe.push_back(request(claim(waiter.tags, "probe:1", 1)));
      for (const Envelope<Answer>& addressed : driver_.core().run(std::move(probe))) {
        EXPECT_TRUE(addressed.content.claims.empty())
            << "command " << token << " waits for an event that is ready";
      }
    }
  }

  // Every event that was ever stored has exactly one status.
  void expect_every_event_is_accounted_for() {
    std::int64_t live = 0;
    for (const Status status : {Status::pending, Status::processing}) {
      ListFilter filter;
      filter.status = status;
      live += driver_.count(filter);
    }
    std::int64_t ended = 0;
    for (const Status status : {Status::completed, Status::failed, Status::cancelled}) {
      ListFilter filter;
      filter.status = status;
      ended += driver_.count(filter);
    }
    EXPECT_EQ(live + ended, published_);
    EXPECT_EQ(driver_.count(), published_);
  }

 private:
  struct Waiting {
    Tags tags;
    TimePoint deadline;
  };

  static Policy policy() {
    Policy policy = kPolicy;
    policy.lease = 10s;
    policy.retry.base = 3s;
    policy.max_attempts = 3;
    return policy;
  }

  int number(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  bool chance(int percent) { return number(1, 100) <= percent; }

  void advance_clock() {
    if (chance(50)) driver_.clock().advance(Millis(number(0, 4000)));
  }

  Tags random_tags(int least) {
    const Tags all = {"a", "b", "c", "d"};
    Tags tags;
    for (const std::string& tag : all) {
      if (chance(35)) tags.push_back(tag);
    }
    if (static_cast<int>(tags.size()) < least) tags.push_back(all.at(static_cast<std::size_t>(number(0, 3))));
    return tags;
  }

  Envelope<Command> request(Command command) { return {{&sink_, ++last_token_}, std::move(command)}; }

  // In some phases there are too few workers, in others too few events.
  Envelope<Command> random_request() {
    const int dice = number(1, 100);
    if (dice <= 30) return report();
    return dice <= (hungry_ ? 45 : 70) ? publication() : claiming();
  }

  Envelope<Command> publication() {
    std::vector<NewEvent> events(static_cast<std::size_t>(number(1, 3)));
    for (NewEvent& event : events) {
      event.title = "event";
      event.tags = random_tags(1);
      event.priority = number(0, 2);
    }
    return request(publish_all(std::move(events)));
  }

  Envelope<Command> claiming() {
    Command command =
        claim(random_tags(0), "host:" + std::to_string(number(1, 3)), static_cast<std::size_t>(number(1, 3)));
    command.claim->wait = chance(75) ? Millis(number(1, 8000)) : Millis(0);
    Envelope<Command> made = request(std::move(command));
    if (made.content.claim->wait > 0ms) {
      asked_[made.reply_to.token] = {made.content.claim->selector.tags,
                                     driver_.clock().now() + made.content.claim->wait};
    }
    return made;
  }

  // A report of a worker that holds an event, or held it once.
  Envelope<Command> report() {
    if (leases_.empty()) return publication();
    Lease lease = leases_.at(static_cast<std::size_t>(number(0, static_cast<int>(leases_.size()) - 1)));
    switch (number(1, 7)) {
      case 1: return request(change({lease, Release{}}));
      case 2: return request(change({lease, Heartbeat{}}));
      case 3: return request(fail(lease));
      case 4: return request(cancel(lease.id));
      case 5: return request(reset(lease.id));
      default: return request(complete(lease));
    }
  }

  void forget_somebody() {
    if (waiting_.empty()) return;
    const std::uint64_t token = waiting_.begin()->first;
    driver_.core().cancel_wait({&sink_, token}, driver_.clock().now());
    waiting_.erase(token);
    cancelled_waits_.insert(token);
  }

  void book(std::vector<Envelope<Answer>> answers) {
    for (Envelope<Answer>& addressed : answers) {
      const std::uint64_t token = addressed.reply_to.token;
      EXPECT_TRUE(answered_.insert(token).second) << "command " << token << " was answered twice";
      EXPECT_FALSE(cancelled_waits_.contains(token))
          << "command " << token << " was answered though forgotten";
      waiting_.erase(token);
      asked_.erase(token);
      if (addressed.content.published) {
        published_ += static_cast<std::int64_t>((*addressed.content.published)->events.size());
      }
      for (const Claim& claim : addressed.content.claims) book(claim);
    }
    // Claims that may wait and got no answer.
    waiting_.merge(asked_);
    asked_.clear();
    for (const Envelope<Answer>& addressed : answers) {
      const std::vector<Claim>& claims = addressed.content.claims;
      if (!claims.empty()) expect_fair(addressed.reply_to.token, claims.front().event);
    }
  }

  // No waiter that came before `served` still waits for the event that woke `served`. Further events that
  // `served` took, up to its limit, may match other waiters.
  void expect_fair(std::uint64_t served, const Event& event) {
    for (const auto& [token, waiter] : waiting_) {
      const bool wants =
          waiter.tags.empty() || std::any_of(waiter.tags.begin(), waiter.tags.end(), [&](auto& tag) {
            return std::find(event.tags.begin(), event.tags.end(), tag) != event.tags.end();
          });
      EXPECT_FALSE(wants && token < served) << "command " << token << " came before " << served;
    }
  }

  // Each claim is a new attempt, so an event that is leased twice would have the same attempt number.
  void book(const Claim& claim) {
    const Lease lease{claim.event.id, claim.event.worker_id, claim.event.attempts};
    const bool first = attempts_.insert({lease.id, *lease.attempt}).second;
    EXPECT_TRUE(first) << "event " << static_cast<std::int64_t>(lease.id) << " was handed out twice";
    leases_.push_back(lease);
  }

  class Nowhere final : public AnswerSink {
    void deliver(std::vector<Envelope<Answer>>) override {}
  };

  CoreDriver driver_;
  std::mt19937 random_;
  Nowhere sink_;
  bool hungry_ = true;
  std::uint64_t last_token_ = 0;
  std::int64_t published_ = 0;
  std::map<std::uint64_t, Waiting> asked_;    // in this batch
  std::map<std::uint64_t, Waiting> waiting_;  // without an answer
  std::set<std::uint64_t> answered_;
  std::set<std::uint64_t> cancelled_waits_;
  std::set<std::pair<EventId, int>> attempts_;
  std::vector<Lease> leases_;
};

class CoreRandom : public testing::TestWithParam<Run> {};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreRandom,
                         testing::Values(Run{StoreKind::memory, rounds(60, 15, 2'000), 150},
                                         Run{StoreKind::real, rounds(3, 3, 60), 150}),
                         [](const testing::TestParamInfo<Run>& run) {
                           return run.param.store == StoreKind::memory ? "Memory" : "Real";
                         });

TEST_P(CoreRandom, AfterEveryBatchNoClaimWaitsForAReadyEvent) {
  for (int seed = 1; seed <= GetParam().seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Gambler gambler(GetParam().store, seed);
    for (int batch = 0; batch < GetParam().batches_per_seed && !HasFailure(); ++batch) {
      gambler.play_batch();
      gambler.expect_nobody_waits_for_a_ready_event();
    }
    gambler.expect_every_event_is_accounted_for();
  }
}

}  // namespace
}  // namespace eventq
