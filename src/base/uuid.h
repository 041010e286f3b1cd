// uuid.h: UUIDs of version 7 (RFC 9562): sorted by time, and unique without coordination.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "eventq/clock.h"

namespace eventq {

// Each id of one source is greater than the id before, even within a millisecond and when the clock is set
// back. Ids are random enough to be unique. They are not secrets, because the generator is predictable.
//
// Threads: belongs to one thread at a time.
class Uuid7Source {
 public:
  explicit Uuid7Source(std::uint64_t seed) : random_(seed) { start(0); }

  // Seeded by the kernel, so that two processes make different ids.
  static Uuid7Source from_entropy();

  // "0192f0c1-7c1e-7abc-8def-0123456789ab"
  std::string next(TimePoint now);

 private:
  void start(std::uint64_t millis);
  void count();

  std::mt19937_64 random_;
  std::uint64_t millis_ = 0;  // of the last id; never decreases
  std::uint64_t high_ = 0;    // 12 bits: rand_a of the RFC
  std::uint64_t low_ = 0;     // 62 bits: rand_b
};

}  // namespace eventq
