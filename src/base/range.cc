// range.cc: see range.h.
#include "base/range.h"

#include <string>

#include "base/numbers.h"
#include "base/time_text.h"

namespace eventq {
namespace {

Error range_error(std::string_view field, const std::string& value, const std::string& least,
                  const std::string& most, std::string_view unit = {}) {
  std::string message = std::string(field) + " is " + value + "; it must be from " + least + " to " + most;
  if (!unit.empty()) message.append(" ").append(unit);
  return {ErrorCode::invalid_argument, message + ".", std::string(field)};
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
  return range_error(field, decimal_text(value), decimal_text(least), decimal_text(most), unit);
}

}  // namespace eventq
