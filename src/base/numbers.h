// numbers.h: strict parsing of whole numbers. The whole token must be a number that fits its type.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace eventq {

// Accepts decimal digits only: no sign, no space, no leading zero except "0" itself, so that every number
// has exactly one spelling.
template <std::integral T>
[[nodiscard]] std::optional<T> parse_whole(std::string_view token) {
  const bool starts_with_digit = !token.empty() && token.front() >= '0' && token.front() <= '9';
  if (!starts_with_digit) return std::nullopt;
  if (token.front() == '0' && token.size() > 1) return std::nullopt;

  T number{};
  const char* const end = token.data() + token.size();
  const auto parsed = std::from_chars(token.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

// The same with an optional '-' before the digits. Refuses "-0".
template <std::signed_integral T>
[[nodiscard]] std::optional<T> parse_whole_signed(std::string_view token) {
  if (!token.starts_with('-')) return parse_whole<T>(token);

  const std::string_view digits = token.substr(1);
  const bool starts_with_nonzero = !digits.empty() && digits.front() >= '1' && digits.front() <= '9';
  if (!starts_with_nonzero) return std::nullopt;

  T number{};
  const char* const end = token.data() + token.size();
  const auto parsed = std::from_chars(token.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace eventq
