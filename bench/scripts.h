// scripts.h: what publishers and workers say over HTTP, for load.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "load.h"

namespace eventq::bench {

// Shared by the scripts of one run: keeps publishers from running ahead of workers.
struct Tally {
  std::int64_t published = 0;
  std::int64_t completed = 0;
  std::int64_t unfinished_max = 100;
  std::int64_t done_before = 0;  // completed when the measured time began

  // With one publisher, one worker and unfinished_max = 2: from publish to delivery.
  bool time_delivery = false;
  std::chrono::steady_clock::time_point published_at;
  std::vector<std::uint32_t> delivery_us;

  [[nodiscard]] std::int64_t done() const { return completed; }
};

// GET of one target, for ever.
std::unique_ptr<Script> repeat_get(std::string target);

// POST /events, or /events/batch when `batch` is above 1.
std::unique_ptr<Script> publisher(Tally& tally, int batch);

// One connection, one event after the other: publish, subscribe, complete.
std::unique_ptr<Script> whole_cycle(Tally& tally, int number);

// Subscribe and complete; or both in one with /events/next. `batch` events at a time.
std::unique_ptr<Script> three_call_worker(Tally& tally, int number, int batch);
std::unique_ptr<Script> next_worker(Tally& tally, int number, int batch);

}  // namespace eventq::bench
