// shared_workers_test.cc: two servers on one PostgreSQL database agree on the states of workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/steady.h"
#include "engine/engine.h"
#include "support/commands.h"
#include "support/mailbox.h"
#include "support/manual_clock.h"
#include "support/open_engine.h"
#include "support/postgres_cluster.h"
#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// The clock moves only when the test says so, but the router stores requests in its own time: a test that
// needs a stored request waits until it is there.
class SharedWorkersTest : public testing::Test {
 protected:
  std::unique_ptr<Engine> open() {
    Options options;
    options.clock = &clock;
    return open_engine(database.url(), options).value();
  }

  static Command asking(AdminRequest request) {
    Command command;
    command.admin = std::move(request);
    return command;
  }

  // The states of all workers, by the first server and then by the other one.
  std::vector<WorkerState> states() {
    std::vector<WorkerState> states;
    for (const auto& server : {std::ref(one), std::ref(other)}) {
      const Answer answer = server.get()->call(asking(WorkersRequest{}));
      for (const ListedWorker& it : std::get<std::vector<ListedWorker>>(answer.admin))
        states.push_back(it.state);
    }
    return states;
  }

  bool come_to_be(const std::vector<WorkerState>& wanted) {
    for (const SteadyTime deadline = steady_now() + 20s; steady_now() < deadline;) {
      if (states() == wanted) return true;
      std::this_thread::yield();
    }
    return false;
  }

  const TestDatabase database;
  ManualClock clock{kStart};
  Mailbox mailbox;
  std::unique_ptr<Engine> one = open();
  std::unique_ptr<Engine> other = open();
};

TEST_F(SharedWorkersTest, AllServersGiveTheSameStateOfAWorker) {
  using enum WorkerState;
  one->call(claim({"t"}, "w:1"));
  EXPECT_TRUE(come_to_be({active, active}));
  clock.advance(30s);
  EXPECT_THAT(states(), ElementsAre(active, active));
  clock.advance(1ms);
  EXPECT_THAT(states(), ElementsAre(idle, idle));
  other->call(claim({"t"}, "w:1"));
  EXPECT_TRUE(come_to_be({active, active}));

  other->call(asking(SignOff{"w:1"}));
  EXPECT_THAT(states(), ElementsAre(gone, gone));
}

TEST_F(SharedWorkersTest, AWaitingPollCountsAsAskingOnAllServers) {
  using enum WorkerState;
  Command wait = claim({"t"}, "w:1");
  wait.claim->wait = 1h;
  one->submit(std::move(wait), mailbox, 1);
  EXPECT_TRUE(come_to_be({active, active}));

  clock.advance(30min);
  one->recheck_clock();
  EXPECT_TRUE(come_to_be({active, active}));
  one->end_all_waits();
}

}  // namespace
}  // namespace eventq
