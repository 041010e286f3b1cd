// open_queue.h: a public Queue on a fresh store and a clock that stands still, for every kind of store.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "eventq/queue.h"
#include "support/manual_clock.h"
#include "support/test_store.h"

namespace eventq {

// A test that every store must pass; the parameter is "memory" or "real", which is the one of test_store.h.
class OpenQueueTest : public testing::TestWithParam<std::string> {
 protected:
  // 2026-01-01T00:00:00Z
  static constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

  [[nodiscard]] std::string url() const { return GetParam() == "real" ? store.url() : "memory:"; }

  // Another queue: closes the one before, since a file takes one at a time.
  void open(Options options) {
    options.clock = &clock;
    if (options.worker_id.empty()) options.worker_id = "host:1";
    queue.reset();
    queue = Queue::open(url(), options).value();
  }

  EventId publish(NewEvent event) { return queue->publish(event).value().id; }
  // REQUIRES: there is something to poll.
  Claim poll(const PollRequest& request = {}) { return queue->poll(request).value().value(); }
  // The lease on the next event.
  Lease lease() {
    const Claim claim = poll();
    return {claim.event.id, claim.event.worker_id, claim.event.attempts};
  }

  const TestStore store;
  ManualClock clock{kStart};
  std::unique_ptr<Queue> queue;

  void SetUp() override { open({}); }
};

inline std::string name_of_url(const testing::TestParamInfo<std::string>& kind) {
  return kind.param == "real" ? "Real" : "Memory";
}

}  // namespace eventq
