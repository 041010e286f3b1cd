// system_clock.cc: the time of day at first use, plus the time since.
#include <ctime>

#include "eventq/clock.h"

namespace eventq {
namespace {

std::chrono::nanoseconds read_clock(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);  // fails only for an unknown id
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// CLOCK_BOOTTIME, because CLOCK_MONOTONIC stands still while the machine sleeps,
// and leases must not.
class SystemClock final : public Clock {
 public:
  SystemClock() : boot_(read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME)) {}

  [[nodiscard]] TimePoint now() const override {
    return TimePoint(std::chrono::floor<Millis>(boot_ + read_clock(CLOCK_BOOTTIME)));
  }

 private:
  const std::chrono::nanoseconds boot_;  // when the machine started, by the clock on the wall
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace eventq
