// system_clock.cc: see eventq/clock.h. The time of day at the first call, plus the time elapsed since.
#include <ctime>

#include "eventq/clock.h"

namespace eventq {
namespace {

std::chrono::nanoseconds read_clock(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);  // fails only for an unknown id
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Uses CLOCK_BOOTTIME, because CLOCK_MONOTONIC stops while the machine is suspended, and leases must expire
// meanwhile.
class SystemClock final : public Clock {
 public:
  SystemClock() : boot_(read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME)) {}

  [[nodiscard]] TimePoint now() const override {
    return TimePoint(std::chrono::floor<Millis>(boot_ + read_clock(CLOCK_BOOTTIME)));
  }

 private:
  const std::chrono::nanoseconds boot_;  // the time of day when the machine started
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace eventq
