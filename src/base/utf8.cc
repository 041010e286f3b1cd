// utf8.cc: see utf8.h.
#include "base/utf8.h"

#include <simdjson.h>

#include <algorithm>

namespace eventq {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The size of the code point at the start of the text; 0 when it is not valid.
std::size_t first_char(std::string_view text) {
  for (std::size_t size = 1; size <= std::min<std::size_t>(4, text.size()); ++size) {
    if (valid_utf8(text.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

bool valid_utf8(std::string_view text) {
  return text.empty() || simdjson::validate_utf8(text.data(), text.size());
}

std::size_t utf8_chars(std::string_view text) {
  // Every byte that is not a continuation byte begins a code point.
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

bool has_control(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  return std::any_of(text.begin(), text.end(), is_control);
}

std::string to_valid_utf8(std::string_view text) {
  if (valid_utf8(text)) return std::string(text);
  std::string valid;
  while (!text.empty()) {
    const std::size_t size = first_char(text);
    valid += size == 0 ? "\xEF\xBF\xBD" : text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return valid;
}

std::string cut_utf8(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && is_continuation(text[limit])) --limit;
  text.resize(limit);
  return text;
}

std::string utf8_end(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t begin = text.size() - limit;
  while (begin < text.size() && is_continuation(text[begin])) ++begin;
  text.erase(0, begin);
  return text;
}

}  // namespace eventq
