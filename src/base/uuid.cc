// uuid.cc: see uuid.h. The 74 bits after the time are one counter (RFC 9562, section 6.2, method 2). It
// starts at a random value in each new millisecond and grows by a random step within it.
#include "base/uuid.h"

#include <sys/random.h>

#include <algorithm>
#include <string_view>

#include "base/assert.h"

namespace eventq {
namespace {

constexpr std::uint64_t kLowBits = 62;
constexpr std::uint64_t kLowMax = (1ULL << kLowBits) - 1;
constexpr std::uint64_t kHighMax = (1ULL << 12) - 1;
constexpr std::uint64_t kMillisMax = (1ULL << 48) - 1;
constexpr std::uint64_t kVersion = 0x7;
constexpr std::uint64_t kVariant = 0b10;

std::string canonical(std::uint64_t first, std::uint64_t second) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  std::size_t digit = 0;
  for (char& c : text) {
    if (c == '-') continue;
    const std::uint64_t half = digit < 16 ? first : second;
    c = kHex[half >> (60 - 4 * (digit % 16)) & 0xF];
    ++digit;
  }
  return text;
}

}  // namespace

Uuid7Source Uuid7Source::from_entropy() {
  std::uint64_t seed = 0;
  // getrandom() returns so few bytes completely or not at all. It fails only on kernels too old for eventq.
  const auto size = getrandom(&seed, sizeof(seed), 0);
  EVENTQ_ASSERT(size == sizeof(seed));
  return Uuid7Source(seed);
}

std::string Uuid7Source::next(TimePoint now) {
  const auto since_1970 = std::max<Millis::rep>(now.time_since_epoch().count(), 0);
  const std::uint64_t millis = std::min(static_cast<std::uint64_t>(since_1970), kMillisMax);
  if (millis > millis_) {
    start(millis);
  } else {
    count();
  }
  return canonical(millis_ << 16 | kVersion << 12 | high_, kVariant << kLowBits | low_);
}

// The topmost bit of the counter starts as zero, so that the counter can grow within the millisecond.
void Uuid7Source::start(std::uint64_t millis) {
  millis_ = millis;
  high_ = random_() & (kHighMax >> 1);
  low_ = random_() & kLowMax;
}

void Uuid7Source::count() {
  low_ += 1 + (random_() & 0xFFFFFFFF);
  if (low_ <= kLowMax) return;
  low_ &= kLowMax;
  if (++high_ <= kHighMax) return;
  // The counter overflowed: use the next millisecond early, so that the ids still grow.
  start(millis_ + 1);
}

}  // namespace eventq
