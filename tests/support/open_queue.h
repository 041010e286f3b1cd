// open_queue.h: a public Queue on a fresh store, with a clock that only the test moves, for every kind of
// store.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "eventq/queue.h"
#include "support/manual_clock.h"
#include "support/test_store.h"

namespace eventq {

// A test that every store must pass. The parameter is "memory", or "real" for the store of test_store.h.
class OpenQueueTest : public testing::TestWithParam<std::string> {
 protected:
  // 2026-01-01T00:00:00Z
  static constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

  [[nodiscard]] std::string url() const { return GetParam() == "real" ? store.url() : "memory:"; }

  // Opens another queue. Closes the one before first, because a file can be open only once.
  void open(Options options) {
    options.clock = &clock;
    if (options.worker_id.empty()) options.worker_id = "host:1";
    queue.reset();
    queue = Queue::open(url(), options).value();
  }

  EventId publish(NewEvent event) { return queue->publish(event).value().id; }
  // REQUIRES: an event is ready.
  Claim poll(const PollRequest& request = {}) { return queue->poll(request).value().value(); }
  // Polls the next event and returns its lease.
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
