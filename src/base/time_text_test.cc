// time_text_test.cc: times and durations to text and back.
#include "base/time_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace eventq {
namespace {

std::string iso(TimePoint time) {
  std::string out;
  append_iso_time(out, time);
  return out;
}

struct IsoCase {
  std::int64_t millis;
  std::string_view text;
};

constexpr IsoCase kIsoCases[] = {
    {0, "1970-01-01T00:00:00.000Z"},
    {1, "1970-01-01T00:00:00.001Z"},
    {-1, "1969-12-31T23:59:59.999Z"},
    {-86'400'000, "1969-12-31T00:00:00.000Z"},
    {951'782'400'000, "2000-02-29T00:00:00.000Z"},
    {951'868'800'000, "2000-03-01T00:00:00.000Z"},
    {1'766'572'200'000, "2025-12-24T10:30:00.000Z"},
    {4'107'542'399'999, "2100-02-28T23:59:59.999Z"},
    {4'107'542'400'000, "2100-03-01T00:00:00.000Z"},
    {253'402'300'799'999, "9999-12-31T23:59:59.999Z"},
    {-2'208'988'800'000, "1900-01-01T00:00:00.000Z"},
    {-62'167'219'200'000, "0000-01-01T00:00:00.000Z"},
};

TEST(IsoTime, IsWrittenInUtcWithMilliseconds) {
  for (const IsoCase& c : kIsoCases) EXPECT_EQ(iso(TimePoint(Millis(c.millis))), c.text);
}

TEST(IsoTime, IsReadBack) {
  for (const IsoCase& c : kIsoCases) EXPECT_EQ(parse_iso_time(c.text), TimePoint(Millis(c.millis))) << c.text;
}

TEST(IsoTime, IsReadBackForEveryDayOfFourHundredYears) {
  const TimePoint start(Millis(0));
  for (int day = 0; day < 146'097; ++day) {
    const TimePoint time = start + std::chrono::days(day) + Millis(45'296'789);
    ASSERT_EQ(parse_iso_time(iso(time)), time) << iso(time);
  }
}

TEST(IsoTime, OutsideTheYears0To9999IsTheNearestTimeInside) {
  EXPECT_EQ(iso(TimePoint(Millis(253'402'300'800'000))), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(iso(TimePoint::max()), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(iso(TimePoint::min()), "0000-01-01T00:00:00.000Z");
}

TEST(IsoTime, MayLackDigitsOfTheFraction) {
  const TimePoint time(Millis(1'766'572'200'500));

  EXPECT_EQ(parse_iso_time("2025-12-24T10:30:00Z"), time - Millis(500));
  EXPECT_EQ(parse_iso_time("2025-12-24T10:30:00.5Z"), time);
  EXPECT_EQ(parse_iso_time("2025-12-24T10:30:00.50Z"), time);
  EXPECT_EQ(parse_iso_time("2025-12-24T10:30:00.05Z"), time - Millis(450));
}

TEST(IsoTime, InAnotherFormatIsRefused) {
  constexpr std::string_view kTexts[] = {"",
                                         "Z",
                                         "2025-12-24",
                                         "2025-12-24T10:30:00",
                                         "2025-12-24T10:30:00+00:00",
                                         "2025-12-24T10:30:00.Z",
                                         "2025-12-24T10:30:00.0000Z",
                                         "2025-12-24T10:30:00,000Z",
                                         "2025-12-24 10:30:00.000Z",
                                         "2025-12-24t10:30:00.000z",
                                         " 2025-12-24T10:30:00.000Z",
                                         "2025-12-24T10:30:00.000Z ",
                                         "2025-13-01T00:00:00.000Z",
                                         "2025-00-01T00:00:00.000Z",
                                         "2025-02-29T00:00:00.000Z",
                                         "2025-01-32T00:00:00.000Z",
                                         "2025-01-01T24:00:00.000Z",
                                         "2025-01-01T00:60:00.000Z",
                                         "2025-01-01T00:00:60.000Z",
                                         "2025-1-1T00:00:00.000Z",
                                         "+025-01-01T00:00:00.000Z",
                                         "2025-01-01T-1:00:00.000Z",
                                         "2025-01-01T00:00:00.-10Z",
                                         "12025-01-01T00:00:00.000Z"};

  for (const std::string_view text : kTexts) EXPECT_EQ(parse_iso_time(text), std::nullopt) << text;
}

TEST(Duration, IsAWholeNumberAndItsUnit) {
  struct Case {
    std::string_view text;
    Millis expected;
  };
  constexpr Case kCases[] = {
      {"250ms", Millis(250)},
      {"60s", Millis(60'000)},
      {"5m", Millis(300'000)},
      {"1h", Millis(3'600'000)},
      {"2d", Millis(172'800'000)},
      {"0s", Millis(0)},
      {"1m30s", Millis(90'000)},
      {"1d2h3m4s5ms", Millis(93'784'005)},
      {"9223372036854775807ms", Millis::max()},
      {"106751991167d", Millis(9'223'372'036'828'800'000)},
  };

  for (const Case& c : kCases) {
    const auto duration = parse_duration(c.text);
    ASSERT_TRUE(duration) << c.text;
    EXPECT_EQ(*duration, c.expected) << c.text;
  }
}

TEST(Duration, InAnotherFormatIsRefused) {
  constexpr std::string_view kTexts[] = {"",
                                         "5",
                                         "m",
                                         "5 m",
                                         " 5m",
                                         "5m ",
                                         "-5m",
                                         "+5m",
                                         "1.5m",
                                         "05m",
                                         "5M",
                                         "5min",
                                         "5us",
                                         "30s1m",
                                         "1m1m",
                                         "1m30",
                                         "1e3s",
                                         "9223372036854775808ms",
                                         "9223372036854775807s",
                                         "106751991168d",
                                         "106751991167d8h"};

  for (const std::string_view text : kTexts) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code, ErrorCode::invalid_argument);
  }
}

TEST(Duration, IsFormattedShortly) {
  EXPECT_EQ(format_duration(Millis(0)), "0s");
  EXPECT_EQ(format_duration(Millis(250)), "250ms");
  EXPECT_EQ(format_duration(Millis(1500)), "1s500ms");
  EXPECT_EQ(format_duration(Millis(90'000)), "1m30s");
  EXPECT_EQ(format_duration(Millis(300'000)), "5m");
  EXPECT_EQ(format_duration(Millis(3'600'000)), "1h");
  EXPECT_EQ(format_duration(Millis(172'800'000)), "2d");
  EXPECT_EQ(format_duration(Millis(-90'000)), "-1m30s");
  EXPECT_EQ(format_duration(Millis::max()), "106751991167d7h12m55s807ms");
  EXPECT_EQ(format_duration(Millis::min()), "-106751991167d7h12m55s808ms");
}

}  // namespace
}  // namespace eventq
