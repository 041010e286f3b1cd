// uuid_test.cc: the format of ids, and that each id is greater than the one before.
#include "base/uuid.h"

#include <gtest/gtest.h>

#include <string>

namespace eventq {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kNow(Millis(0x0192F0C17C1E));

TEST(Uuid7, HasTheCanonicalForm) {
  Uuid7Source source(1);

  for (int i = 0; i < 1000; ++i) {
    const std::string id = source.next(kNow + Millis(i));
    ASSERT_EQ(id.size(), 36U);
    ASSERT_EQ(id.find_first_not_of("0123456789abcdef-"), std::string::npos) << id;
    for (std::size_t at = 0; at < id.size(); ++at) {
      const bool is_dash = at == 8 || at == 13 || at == 18 || at == 23;
      ASSERT_EQ(id[at] == '-', is_dash) << id;
    }
  }
}

TEST(Uuid7, CarriesTimeVersionAndVariant) {
  Uuid7Source source(2);

  for (int i = 0; i < 1000; ++i) {
    const std::string id = source.next(kNow + Millis(256 * i));
    ASSERT_EQ(id[14], '7') << id;
    ASSERT_NE(std::string("89ab").find(id[19]), std::string::npos) << id;
  }
  EXPECT_EQ(Uuid7Source(3).next(kNow).substr(0, 13), "0192f0c1-7c1e");
}

TEST(Uuid7, GrowsWithinOneMillisecond) {
  Uuid7Source source(4);

  std::string last = source.next(kNow);
  for (int i = 0; i < 1'000'000; ++i) {
    std::string id = source.next(kNow);
    ASSERT_LT(last, id);
    last = std::move(id);
  }
}

TEST(Uuid7, GrowsWhenTheClockGoesBack) {
  Uuid7Source source(5);

  std::string last = source.next(kNow);
  for (int i = 1; i < 10'000; ++i) {
    std::string id = source.next(i % 3 == 0 ? kNow + Millis(i) : kNow - 24h - Millis(i));
    ASSERT_LT(last, id);
    last = std::move(id);
  }
}

TEST(Uuid7, GrowsWithTheClock) {
  Uuid7Source source(6);

  std::string last = source.next(kNow);
  for (int i = 1; i < 10'000; ++i) {
    std::string id = source.next(kNow + Millis(i));
    ASSERT_LT(last, id);
    last = std::move(id);
  }
}

TEST(Uuid7, TakesATimeBefore1970AsItsStart) {
  EXPECT_EQ(Uuid7Source(7).next(TimePoint(-1h)).substr(0, 13), "00000000-0000");
}

TEST(Uuid7, DiffersBetweenSeeds) {
  EXPECT_NE(Uuid7Source(8).next(kNow), Uuid7Source(9).next(kNow));
  EXPECT_NE(Uuid7Source::from_entropy().next(kNow), Uuid7Source::from_entropy().next(kNow));
}

TEST(Uuid7, RepeatsWithItsSeed) { EXPECT_EQ(Uuid7Source(10).next(kNow), Uuid7Source(10).next(kNow)); }

}  // namespace
}  // namespace eventq
