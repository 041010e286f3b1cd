// media_type.cc: see media_type.h.
#include "http/api/media_type.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace eventq::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Removes the text before the next `separator`, and the separator, from `rest`, and returns the text.
std::string_view next(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return trimmed(part);
}

double quality(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view value = next(parameters, ';');
    if (!same(next(value, '='), "q")) continue;
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
    if (same(next(range, ';'), type)) return quality(range);
  }
  return 0;
}

}  // namespace eventq::http
