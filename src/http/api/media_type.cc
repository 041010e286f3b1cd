// media_type.cc: see media_type.h.
#include "http/api/media_type.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/ascii.h"

namespace eventq::http {
namespace {

// Removes the text before the next `separator`, and the separator, from `rest`, and returns the text.
std::string_view next(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return trim(part);
}

double quality(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view value = next(parameters, ';');
    if (!equals_ignoring_case(next(value, '='), "q")) continue;
    double number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    // A malformed q counts as 0, so the default format is sent.
    return read.ec == std::errc() ? std::clamp(number, 0.0, 1.0) : 0;
  }
  return 1;
}

}  // namespace

double accept_quality(std::string_view accept, std::string_view type) {
  while (!accept.empty()) {
    std::string_view range = next(accept, ',');
    if (equals_ignoring_case(next(range, ';'), type)) return quality(range);
  }
  return 0;
}

}  // namespace eventq::http
