// worker_queue.h: a queue for tests with workers, whose clock runs and can be advanced.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "eventq/queue.h"
#include "eventq/worker.h"
#include "support/test_store.h"

namespace eventq {

// The system time plus the time by which the test advanced it. Long polls need a clock that runs.
class MovedClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return system_clock().now() + Millis(moved_.load()); }
  void advance(Millis by) { moved_.fetch_add(by.count()); }

 private:
  std::atomic<Millis::rep> moved_ = 0;
};

// The parameter is "memory" or "real", which is the store of test_store.h.
class WorkerQueueTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { open({}); }

  void open(Options options) {
    options.clock = &clock;
    options.retry.base = Millis(0);
    options.queues["main"].processing_interval =
        Millis(100);  // the length of a long poll, so that stop() is fast
    options.worker_id = "host:0";
    queue.reset();
    queue = Queue::open(GetParam() == "real" ? store.url() : "memory:", options).value();
  }

  EventId publish(const std::string& tag, int max_retries = 3) {
    return queue->publish({.title = tag, .tags = {tag}, .max_retries = max_retries}).value().id;
  }

  // Returns the event when it has ended. Waits longer than any test advances the clock.
  Event ended(EventId id) { return queue->wait(id, std::chrono::hours(24)).value(); }

  // Entries of its log with this action.
  std::vector<LogEntry> entries(EventId id, Action action) {
    std::vector<LogEntry> log = queue->log(id).value();
    std::erase_if(log, [&](const LogEntry& entry) { return entry.action != action; });
    return log;
  }

  const TestStore store;
  MovedClock clock;
  std::unique_ptr<Queue> queue;
};

inline std::string name_of_worker_queue(const testing::TestParamInfo<std::string>& kind) {
  return kind.param == "real" ? "Real" : "Memory";
}

}  // namespace eventq
