// scripts.h: the HTTP requests of publishers and workers, for load.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "load.h"

namespace eventq::bench {

// Counters shared by the scripts of one run. Publishers pause at unfinished_max, so that workers keep up.
struct Tally {
  std::int64_t published = 0;
  std::int64_t completed = 0;
  std::int64_t unfinished_max = 100;
  std::int64_t done_before = 0;  // completed when the measured time began

  // Measures the time from publish to delivery. REQUIRES: one publisher, one worker, unfinished_max = 2.
  bool time_delivery = false;
  std::chrono::steady_clock::time_point published_at;
  std::vector<std::uint32_t> delivery_us;

  [[nodiscard]] std::int64_t done() const { return completed; }
};

// Repeats a GET of one target.
std::unique_ptr<Script> repeat_get(std::string target);

// POST /events, or /events/batch when `batch` is above 1.
std::unique_ptr<Script> publisher(Tally& tally, int batch);

// One connection, one event after the other: publish, subscribe, complete.
std::unique_ptr<Script> whole_cycle(Tally& tally, int number);

// Workers that claim `batch` events at a time: by subscribe and complete, or by /events/next alone.
std::unique_ptr<Script> three_call_worker(Tally& tally, int number, int batch);
std::unique_ptr<Script> next_worker(Tally& tally, int number, int batch);

}  // namespace eventq::bench
