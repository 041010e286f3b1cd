// utf8.cc: see utf8.h.
#include "base/utf8.h"

#include <simdjson.h>

#include <algorithm>

namespace eventq {

bool valid_utf8(std::string_view text) {
  return text.empty() || simdjson::validate_utf8(text.data(), text.size());
}

std::size_t utf8_chars(std::string_view text) {
  // Every byte but a continuation begins a code point.
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

bool has_control(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  return std::any_of(text.begin(), text.end(), is_control);
}

}  // namespace eventq
