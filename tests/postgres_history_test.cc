// postgres_history_test.cc: three servers on two shards with 8 publishers, 16 workers and random faults. No
// event may be lost, doubled or out of order.
//
// EVENTQ_SEED changes the random choices, EVENTQ_FAULT_SECONDS the length.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/steady.h"
#include "crash/client.h"
#include "crash/load.h"
#include "faults/deployment.h"
#include "support/rounds.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr std::uint32_t kSeed = 20'251'224;

// Injects a random fault with each call of inject().
class Faults {
 public:
  Faults(std::uint32_t seed, std::array<RemoteDatabase, 2>& shards, Deployment& deployment, Load& load)
      : random_(seed), shards_(shards), deployment_(deployment), load_(load) {}

  void inject() {
    RemoteDatabase& shard = shards_.at(static_cast<std::size_t>(number(0, 1)));
    using Kind = std::pair<const char*, std::function<void()>>;
    const std::array<Kind, 7> kinds{
        Kind{"server killed", [&] { kill_server(); }},
        Kind{"connections ended", [&] { shard.end_connections(); }},
        Kind{"backend killed", [&] { shard.kill_backend(); }},
        Kind{"immediate stop",
             [&] {
               shard.cluster.stop(OwnCluster::Stop::immediate);
               shard.cluster.start();
             }},
        Kind{"postmaster killed",
             [&] {
               shard.cluster.kill();
               shard.cluster.start();
             }},
        Kind{"black hole",
             [&] {
               shard.proxy.black_hole();
               deployment_.wait_while_running(std::chrono::milliseconds(number(100, 3000)));
               if (number(0, 1) == 0) shard.proxy.cut();
               shard.proxy.pass();
             }},
        Kind{"network cut", [&] { shard.proxy.cut(); }},
    };
    const Kind& kind = kinds.at(static_cast<std::size_t>(number(0, std::ssize(kinds) - 1)));
    ++count_[kind.first];
    kind.second();
  }

  int number(std::ptrdiff_t least, std::ptrdiff_t most) {
    return std::uniform_int_distribution(static_cast<int>(least), static_cast<int>(most))(random_);
  }
  void print() const {
    for (const auto& [kind, count] : count_) std::cout << kind << ": " << count << "\n";
  }

 private:
  void kill_server() {
    ServerProcess& server =
        deployment_.server(static_cast<std::size_t>(number(0, std::ssize(deployment_.ports()) - 1)));
    server.kill();
    // The server does not start without its databases, and one of them may be starting too.
    const SteadyTime limit = steady_now() + 60s;
    while (!server.start() && steady_now() < limit) {
    }
    ASSERT_NE(server.port(), 0) << server.log();
    load_.servers().set_servers(deployment_.ports());
  }
  std::mt19937 random_;
  std::array<RemoteDatabase, 2>& shards_;
  Deployment& deployment_;
  Load& load_;
  std::map<std::string, int> count_;
};

TEST(PostgresHistory, NothingIsLostDoubledOrOutOfOrderWithThreeServersOnTwoShardsThatFailAtRandom) {
  const std::uint32_t seed = number_from_environment("EVENTQ_SEED", kSeed);
  const std::chrono::seconds length(
      number_from_environment("EVENTQ_FAULT_SECONDS", static_cast<std::uint32_t>(rounds(10, 10, 120))));
  std::cout << "EVENTQ_SEED=" << seed << " EVENTQ_FAULT_SECONDS=" << length.count() << std::endl;
  std::array<RemoteDatabase, 2> shards;
  Deployment deployment({shards[0].url(), shards[1].url()}, 3);
  ASSERT_TRUE(configure(deployment.server(0).port(), kLimitedQueue,
                        R"({"maxQueueDepth": )" + std::to_string(kLimitedDepth) + "}"));
  Load load(seed, 8, 16, Load::Databases::shards);
  load.servers().set_servers(deployment.ports());
  Faults faults(seed, shards, deployment, load);

  // Many acknowledged calls must exist that could be lost; a slow machine needs longer to make them.
  const auto least = static_cast<std::ptrdiff_t>(length.count()) * 20;
  const SteadyTime end = steady_now() + length;
  const auto enough = [&] {
    return count_events(deployment.server(0).port(), "COMPLETED") > 2 * least || steady_now() > end + 300s;
  };
  while (steady_now() < end || !enough()) {
    ASSERT_NO_FATAL_FAILURE(faults.inject());
    deployment.wait_while_running(std::chrono::milliseconds(faults.number(100, 1500)));
  }

  faults.print();
  History history;
  EXPECT_EQ(deployment.finish_and_check(load, history), "") << "EVENTQ_SEED=" << seed;
  // Calls were acknowledged, and the outcome of some was unknown.
  EXPECT_GT(count_outcome(history.publishes, CallOutcome::ok), least);
  EXPECT_GT(count_outcome(history.reports, CallOutcome::ok), least);
  EXPECT_GT(count_outcome(history.publishes, CallOutcome::unknown), 0);
}

}  // namespace
}  // namespace eventq
