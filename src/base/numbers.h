// numbers.h: numbers from text and to text, independent of the locale.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace eventq {

// The whole text as std::from_chars() reads it, which allows leading zeros but no sign before an unsigned
// number. Nothing when a part of the text is left over, or when the number does not fit. `base` is that of an
// integer; 10 if not given.
template <typename T, typename... Base>
[[nodiscard]] std::optional<T> parse_all(std::string_view text, Base... base) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, base...);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

// Accepts decimal digits only: no sign, no space, no leading zero except "0" itself, so that every number
// has exactly one spelling.
template <std::integral T>
[[nodiscard]] std::optional<T> parse_whole(std::string_view token) {
  const bool starts_with_digit = !token.empty() && token.front() >= '0' && token.front() <= '9';
  if (!starts_with_digit) return std::nullopt;
  if (token.front() == '0' && token.size() > 1) return std::nullopt;
  return parse_all<T>(token);
}

// The same with an optional '-' before the digits. Refuses "-0".
template <std::signed_integral T>
[[nodiscard]] std::optional<T> parse_whole_signed(std::string_view token) {
  if (!token.starts_with('-')) return parse_whole<T>(token);
  if (token.substr(1).starts_with('0')) return std::nullopt;
  return parse_all<T>(token);
}

// Appends the shortest text that reads back as the same number.
template <typename T>
void append_decimal(std::string& out, T number) {
  std::array<char, 32> digits;  // the longest is "-2.2250738585072014e-308"
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

[[nodiscard]] inline std::string decimal_text(double number) {
  std::string text;
  append_decimal(text, number);
  return text;
}

}  // namespace eventq
