// range.cc: see range.h.
#include "base/range.h"

#include <array>
#include <charconv>
#include <string>

#include "base/time_text.h"

namespace eventq {
namespace {

Error range_error(std::string_view field, const std::string& value, const std::string& least,
                  const std::string& most, std::string_view unit = {}) {
  std::string message = std::string(field) + " is " + value + "; it must be from " + least + " to " + most;
  if (!unit.empty()) message.append(" ").append(unit);
  return {ErrorCode::invalid_argument, message + ".", std::string(field)};
}

std::string text_of(double number) {
  std::array<char, 32> digits{};  // "-2.2250738585072014e-308"
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

}  // namespace

std::optional<Error> out_of_range(std::string_view field, std::optional<std::int64_t> value,
                                  std::int64_t least, std::int64_t most, std::string_view unit) {
  if (!value || (*value >= least && *value <= most)) return std::nullopt;
  return range_error(field, std::to_string(*value), std::to_string(least), std::to_string(most), unit);
}

std::optional<Error> out_of_range(std::string_view field, Millis value, Millis least, Millis most) {
  if (value >= least && value <= most) return std::nullopt;
  return range_error(field, format_duration(value), format_duration(least), format_duration(most));
}

std::optional<Error> fraction_out_of_range(std::string_view field, double value, double least, double most,
                                           std::string_view unit) {
  if (value >= least && value <= most) return std::nullopt;
  return range_error(field, text_of(value), text_of(least), text_of(most), unit);
}

}  // namespace eventq
