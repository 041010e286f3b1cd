// time_text.cc: see time_text.h.
#include "base/time_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/numbers.h"

namespace eventq {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;

constexpr TimePoint kEarliest = sys_days(year(0) / month(1) / day(1));
constexpr TimePoint kLatest = sys_days(year(10000) / month(1) / day(1)) - Millis(1);

// Writes `number` with leading zeros into [at, at + width).
void put_digits(char* at, int width, unsigned number) {
  for (int i = width - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

// The number made of exactly these digits, leading zeros allowed.
std::optional<unsigned> digits(std::string_view text) { return parse_all<unsigned>(text); }

// ".5", ".50" and ".500" are 500 ms; an empty text is 0 ms.
std::optional<Millis> fraction(std::string_view text) {
  if (text.empty()) return Millis(0);
  if (text.front() != '.' || text.size() > 4) return std::nullopt;
  const auto number = digits(text.substr(1));
  if (!number) return std::nullopt;

  std::int64_t millis = *number;
  for (std::size_t size = text.size(); size < 4; ++size) millis *= 10;
  return Millis(millis);
}

struct Unit {
  std::string_view name;
  std::int64_t millis;
};

constexpr std::array<Unit, 5> kUnits = {
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};

Error bad_duration(std::string_view text) {
  return {
      ErrorCode::invalid_argument,
      "\"" + std::string(text) +
          "\" is not a duration: write whole numbers with the units d, h, m, s or ms, such as 5m or 1m30s.",
      ""};
}

}  // namespace

void append_iso_time(std::string& out, TimePoint time) {
  const TimePoint shown = std::clamp(time, kEarliest, kLatest);
  const auto midnight = std::chrono::floor<std::chrono::days>(shown);
  const std::chrono::year_month_day date(midnight);
  const auto millis = static_cast<unsigned>((shown - midnight).count());

  char text[] = "YYYY-MM-DDThh:mm:ss.fffZ";
  put_digits(text, 4, static_cast<unsigned>(static_cast<int>(date.year())));
  put_digits(text + 5, 2, static_cast<unsigned>(date.month()));
  put_digits(text + 8, 2, static_cast<unsigned>(date.day()));
  put_digits(text + 11, 2, millis / 3'600'000);
  put_digits(text + 14, 2, millis / 60'000 % 60);
  put_digits(text + 17, 2, millis / 1000 % 60);
  put_digits(text + 20, 3, millis % 1000);
  out.append(text, sizeof(text) - 1);
}

std::optional<TimePoint> parse_iso_time(std::string_view text) {
  constexpr std::size_t kWithoutFraction = 20;
  if (text.size() < kWithoutFraction || text.back() != 'Z') return std::nullopt;
  const bool has_separators =
      text[4] == '-' && text[7] == '-' && text[10] == 'T' && text[13] == ':' && text[16] == ':';
  if (!has_separators) return std::nullopt;

  const auto y = digits(text.substr(0, 4)), mo = digits(text.substr(5, 2)), d = digits(text.substr(8, 2));
  const auto h = digits(text.substr(11, 2)), mi = digits(text.substr(14, 2)), s = digits(text.substr(17, 2));
  const auto f = fraction(text.substr(19, text.size() - kWithoutFraction));
  if (!y || !mo || !d || !h || !mi || !s || !f) return std::nullopt;

  const auto date = year(static_cast<int>(*y)) / month(*mo) / day(*d);
  if (!date.ok() || *h > 23 || *mi > 59 || *s > 59) return std::nullopt;
  return sys_days(date) + std::chrono::hours(*h) + std::chrono::minutes(*mi) + std::chrono::seconds(*s) + *f;
}

Result<Millis> parse_duration(std::string_view text) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::string_view rest = text;
  const Unit* next = kUnits.begin();  // the largest unit that is still allowed
  std::int64_t total = 0;
  do {
    const std::size_t number_size = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto number = parse_whole<std::int64_t>(rest.substr(0, number_size));
    rest.remove_prefix(number_size);
    const std::string_view name = rest.substr(0, rest.find_first_of("0123456789"));
    rest.remove_prefix(name.size());

    const auto* unit = std::find_if(next, kUnits.end(), [name](const Unit& u) { return u.name == name; });
    if (!number || unit == kUnits.end()) return bad_duration(text);
    if (*number > (kMost - total) / unit->millis) return bad_duration(text);
    total += *number * unit->millis;
    next = unit + 1;
  } while (!rest.empty());
  return Millis(total);
}

std::string format_duration(Millis duration) {
  if (duration == Millis(0)) return "0s";
  std::string out = duration < Millis(0) ? "-" : "";
  // Unsigned, because the negation of the smallest Millis does not fit into Millis.
  auto rest = static_cast<std::uint64_t>(duration.count());
  if (duration < Millis(0)) rest = 0 - rest;

  for (const Unit& unit : kUnits) {
    const auto size = static_cast<std::uint64_t>(unit.millis);
    if (rest < size) continue;
    out += std::to_string(rest / size);
    out += unit.name;
    rest %= size;
  }
  return out;
}

}  // namespace eventq
