// durability_test.cc: which commits wait for the disk, with strict and buffered queues.
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
using DiskSync = Transaction::DiskSync;

class CoreDurability : public CoreTest {
 protected:
  static constexpr QueueConfig buffered(std::int64_t threshold = 500) {
    QueueConfig config;
    config.durability = Durability::buffered;
    config.persistence_threshold = threshold;
    config.processing_interval = 100ms;
    return config;
  }
  void open(std::int64_t threshold = 500) {
    driver.run(configure("fast", buffered(threshold)));
    driver.run_once();
  }
  static NewEvent event(const std::string& queue) { return {.title = "one", .tags = {"t"}, .queue = queue}; }
  // Whether the last commit of a command waited for the disk.
  bool waited(Command command) {
    driver.run(std::move(command));
    return driver.store().last_sync() == DiskSync::now;
  }
  Lease take(const std::string& queue) {
    const Claim claim = driver.claims(driver.run(claim_in(queue, "w:1"))).at(0);
    return {claim.event.id, "w:1", claim.event.attempts};
  }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreDurability, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreDurability, EveryCommitWaitsWhenNoQueueIsBuffered) {
  EXPECT_TRUE(waited(publish(event("main"))));
  EXPECT_TRUE(waited(claim_in("main", "w:1")));
}

TEST_P(CoreDurability, ACommitOfABufferedQueueDoesNotWait) {
  open();

  EXPECT_FALSE(waited(publish(event("fast"))));
  const Lease lease = take("fast");
  EXPECT_EQ(driver.store().last_sync(), DiskSync::later);
  EXPECT_FALSE(waited(change({lease, Heartbeat{}})));
  EXPECT_FALSE(waited(complete(lease)));
}

TEST_P(CoreDurability, EveryChangeOfAStrictQueueWaits) {
  open();

  EXPECT_TRUE(waited(publish(event("main"))));
  const Lease lease = take("main");
  EXPECT_EQ(driver.store().last_sync(), DiskSync::now);
  EXPECT_TRUE(waited(change({lease, Heartbeat{}})));
  EXPECT_TRUE(waited(fail(lease)));
  EXPECT_TRUE(waited(cancel(lease.id)));
  EXPECT_TRUE(waited(reset(lease.id)));
}

TEST_P(CoreDurability, OneStrictQueueMakesTheWholeRunWait) {
  open();
  driver.run_together(publish(event("fast")), publish(event("main")), publish(event("fast")));

  EXPECT_EQ(driver.store().last_sync(), DiskSync::now);
}

TEST_P(CoreDurability, ABatchAcrossBothWaits) {
  open();

  EXPECT_TRUE(waited(publish_all({event("fast"), event("main")})));
}

TEST_P(CoreDurability, TheCommitThatReachesTheThresholdWaits) {
  open(3);

  EXPECT_FALSE(waited(publish(event("fast"))));
  EXPECT_FALSE(waited(publish(event("fast"))));
  EXPECT_TRUE(waited(publish(event("fast"))));
  EXPECT_FALSE(waited(publish(event("fast"))));  // counted anew
}

TEST_P(CoreDurability, ABatchOfTheThresholdWaits) {
  open(3);

  EXPECT_FALSE(waited(publish_all(std::vector<NewEvent>(2, event("fast")))));
  driver.run(configure("fast", buffered(3)));
  EXPECT_TRUE(waited(publish_all(std::vector<NewEvent>(3, event("fast")))));
}

TEST_P(CoreDurability, AStrictCommitPutsEarlierBufferedCommitsOnDiskToo) {
  open(3);
  driver.run(publish(event("fast")));
  driver.run(publish(event("fast")));
  driver.run(publish(event("main")));

  EXPECT_FALSE(waited(publish(event("fast"))));
}

TEST_P(CoreDurability, TheThresholdIsEachQueuesOwn) {
  open(3);
  driver.run(configure("other", buffered(3)));
  driver.run(publish(event("fast")));
  driver.run(publish(event("fast")));

  EXPECT_FALSE(waited(publish(event("other"))));
}

TEST_P(CoreDurability, BufferedChangesAreOnDiskAfterTheInterval) {
  open();
  driver.run(publish(event("fast")));
  driver.expect_attention(kStart + 100ms);
  clock().advance(60ms);
  driver.run(publish(event("fast")));
  driver.expect_attention(kStart + 100ms);  // since the first of them
  clock().advance(39ms);
  driver.run_once();
  EXPECT_EQ(driver.store().last_sync(), DiskSync::later);

  clock().advance(1ms);
  driver.run_once();
  EXPECT_EQ(driver.store().last_sync(), DiskSync::now);
  driver.expect_attention(std::nullopt);
}

TEST_P(CoreDurability, ACommitThatFailedLeavesTheChangesToBeWritten) {
  open();
  driver.run(publish(event("fast")));
  clock().advance(100ms);
  driver.store().refuse_commit(Error{ErrorCode::no_space, "The disk is full.", ""});
  driver.run_once();
  driver.store().refuse_commit(std::nullopt);
  EXPECT_LE(driver.core().next_attention(), clock().now());

  driver.run_once();
  EXPECT_EQ(driver.store().last_sync(), DiskSync::now);
}

TEST_P(CoreDurability, ACheckpointPutsEverythingOnDisk) {
  open();
  driver.run(publish(event("fast")));

  EXPECT_TRUE(waited(make_checkpoint("fast")));
  driver.expect_attention(std::nullopt);
}

TEST_P(CoreDurability, ThePeriodicCheckpointPutsEverythingOnDisk) {
  QueueConfig config = buffered();
  config.processing_interval = 1h;
  driver.run(configure("fast", config));
  driver.run_once();
  driver.run(publish(event("fast")));
  driver.run(complete(take("fast")));
  EXPECT_EQ(driver.store().last_sync(), DiskSync::later);
  driver.expect_attention(kStart + 1min);
  clock().advance(1min);

  driver.run_once();
  EXPECT_EQ(driver.store().last_sync(), DiskSync::now);
}

TEST_P(CoreDurability, ClosingPutsEverythingOnDisk) {
  open();
  driver.run(publish(event("fast")));
  EXPECT_EQ(driver.store().last_sync(), DiskSync::later);

  EXPECT_TRUE(driver.core().close());
  EXPECT_EQ(driver.store().last_sync(), DiskSync::now);
}

TEST_P(CoreDurability, AQueueThatBecomesStrictIsSoFromTheNextRunOn) {
  open();
  EXPECT_FALSE(waited(publish(event("fast"))));
  EXPECT_TRUE(waited(configure("fast", {})));

  EXPECT_TRUE(waited(publish(event("fast"))));
}

TEST_P(CoreDurability, AProbeWaitsForTheDisk) {
  open();
  Command probe;
  probe.probe = true;

  EXPECT_TRUE(waited(probe));
}

}  // namespace
}  // namespace eventq
