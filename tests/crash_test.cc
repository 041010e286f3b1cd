// crash_test.cc: kills the program under load many times; no acknowledged change may be lost.
//
// EVENTQ_SEED changes the random choices, EVENTQ_ROUNDS the number of kills.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <random>
#include <string>

#include "base/steady.h"
#include "crash/client.h"
#include "crash/load.h"
#include "crash/stored_file.h"
#include "support/history.h"
#include "support/http_client.h"
#include "support/json_lines.h"
#include "support/rounds.h"
#include "support/server_process.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr std::uint32_t kSeed = 20'251'224;
constexpr int kPublishers = 8;
constexpr int kWorkers = 16;
constexpr CheckSettings kSettings{.lease = 500ms, .max_retries = 3, .max_attempts = 5};

ServerProcess make_server() {
  return ServerProcess(
      {"--lease", "500ms", "--retry-delay", "100ms", "--max-retries", "3", "--max-attempts", "5"});
}

// The server must report every queue of the file with all its live events.
void check_recovery(std::uint16_t port, const StoredFile& before) {
  for (const auto& [queue, live] : before.live) {
    EXPECT_EQ(number_at(port, "/queues/" + queue + "/recovery", "eventsRecovered"), live) << queue;
    // No client has claimed yet, but an expired lease may already have failed its event.
    EXPECT_LE(number_at(port, "/queues/" + queue, "depth"), live) << queue;
  }
}

// Waits until more than `least` events are completed, because a slow machine has completed fewer by now.
void await_work(ServerProcess& server, Load& load, std::ptrdiff_t least) {
  if (count_events(server.port(), "COMPLETED") > least) return;
  load.servers().set_server(server.port());
  const SteadyTime limit = steady_now() + 300s;
  while (count_events(server.port(), "COMPLETED") <= least && steady_now() < limit) {
    ASSERT_EQ(server.wait(20ms), std::nullopt) << server.log();
  }
}

TEST(CrashTest, NothingAcknowledgedIsLostDoneTwiceOrResurrectedByKillsUnderLoad) {
  const std::uint32_t seed = number_from_environment("EVENTQ_SEED", kSeed);
  const std::uint32_t kills =
      number_from_environment("EVENTQ_ROUNDS", static_cast<std::uint32_t>(rounds(20, 20, 200)));
  std::cout << "EVENTQ_SEED=" << seed << " EVENTQ_ROUNDS=" << kills << std::endl;
  std::mt19937 random(seed);
  ServerProcess server = make_server();
  Load load(seed, kPublishers, kWorkers);
  StoredFile left;
  std::int64_t deepest = 0;

  for (std::uint32_t round = 1; round <= kills; ++round) {
    ASSERT_TRUE(server.start()) << server.log();
    check_recovery(server.port(), left);
    if (round == 1) {
      ASSERT_TRUE(configure(server.port(), kLimitedQueue,
                            R"({"maxQueueDepth": )" + std::to_string(kLimitedDepth) + "}"));
    }
    load.servers().set_server(server.port());
    const std::chrono::milliseconds life(std::uniform_int_distribution(50, 800)(random));
    ASSERT_EQ(server.wait(life), std::nullopt)
        << "the server exited before its kill in round " << round << "\n"
        << server.log();
    server.kill();
    left = read_stored_file(server.file("eventq.db"));
    ASSERT_EQ(left.damage, "") << "after the kill of round " << round;
    ASSERT_LE(left.live[kLimitedQueue], kLimitedDepth) << "after the kill of round " << round;
    deepest = std::max(deepest, left.live[kLimitedQueue]);
  }
  ASSERT_TRUE(server.start()) << server.log();
  check_recovery(server.port(), left);
  const auto least = static_cast<std::ptrdiff_t>(kills) * 20;
  await_work(server, load, 2 * least);
  History history = load.finish();
  ASSERT_TRUE(drain(server.port(), history)) << server.log();
  auto finals = read_everything(server.port());
  ASSERT_TRUE(finals.has_value()) << server.log();
  history.finals = *std::move(finals);
  server.kill();
  EXPECT_EQ(read_stored_file(server.file("eventq.db")).damage, "");
  const std::vector<Finding> findings = check(history, kSettings);

  std::cout << "rounds=" << kills << " " << summary_of(history, findings) << " deepest=" << deepest
            << std::endl;
  EXPECT_EQ(describe(findings), "") << "EVENTQ_SEED=" << seed;
  // Some kills hit calls in progress, and many calls were acknowledged that could have been lost.
  EXPECT_GT(count_outcome(history.publishes, CallOutcome::unknown), 0);
  EXPECT_GT(count_outcome(history.reports, CallOutcome::unknown), 0);
  EXPECT_GT(count_outcome(history.publishes, CallOutcome::refused), 0);  // the limited queue was full
  EXPECT_TRUE(std::any_of(history.finals.begin(), history.finals.end(),
                          [](const FinalEvent& event) { return event.status == "SUPERSEDED"; }));
  EXPECT_GT(count_outcome(history.publishes, CallOutcome::ok), least);
  EXPECT_GT(count_outcome(history.reports, CallOutcome::ok), least);
}

// Two processes with the same worker_id, or one process that restarted and forgot its claim.
class TwinWorkersTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.start()) << server_.log();
    first_.emplace(server_.port());
    second_.emplace(server_.port());
    ASSERT_EQ(first_->post("/events", R"({"title":"a","tags":"email","payload":{"n": 1}})")->status, 201);
    ASSERT_EQ(json_lines(first_->get("/events/subscribe?tags=email&worker_id=twin:1")->body)["attempt"], "1");
    // The second claim waits until the first lease expires. The long lease keeps the second attempt alive
    // during the test.
    ASSERT_TRUE(configure(server_.port(), "main", R"({"leaseMs": 600000})"));
    ASSERT_EQ(
        json_lines(second_->get("/events/subscribe?tags=email&worker_id=twin:1&wait=50")->body)["attempt"],
        "2");
  }

  ServerProcess server_ = make_server();
  std::optional<HttpClient> first_;
  std::optional<HttpClient> second_;
};

INSTANTIATE_TEST_SUITE_P(EveryReport, TwinWorkersTest,
                         testing::Values("complete", "fail", "start", "heartbeat"),
                         [](const testing::TestParamInfo<std::string>& report) { return report.param; });

TEST_P(TwinWorkersTest, ALateReportOnTheFirstAttemptIsRefusedAndChangesNothing) {
  const auto before = second_->get("/events/1?include_logs=true");

  const auto late = first_->post("/events/1/" + GetParam(), R"({"worker_id":"twin:1","attempt":1})");

  EXPECT_EQ(late->status, 409);
  EXPECT_EQ(json_lines(late->body)["title"], "\"Lease lost\"");
  EXPECT_EQ(second_->get("/events/1?include_logs=true")->body, before->body);
  EXPECT_EQ(second_->post("/events/1/complete", R"({"worker_id":"twin:1","attempt":2})")->status, 200);
}

TEST_P(TwinWorkersTest, ALateReportIsRefusedByTheNextServerToo) {
  server_.kill();
  ASSERT_TRUE(server_.start()) << server_.log();
  HttpClient client(server_.port());
  const auto before = client.get("/events/1?include_logs=true");

  const auto late = client.post("/events/1/" + GetParam(), R"({"worker_id":"twin:1","attempt":1})");

  EXPECT_EQ(late->status, 409);
  EXPECT_EQ(client.get("/events/1?include_logs=true")->body, before->body);
}

}  // namespace
}  // namespace eventq
