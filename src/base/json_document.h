// json_document.h: a JSON text and the offsets of its tokens. Shared by json.cc and json_check.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

namespace eventq {

// Only white space separates two tokens, so a token ends where the white space before the next one begins.
struct JsonDocument {
  std::string_view text;
  std::span<const std::uint32_t> starts;

  // Strings that contained escape sequences, decoded. A deque, because string_views into its elements must
  // stay valid when it grows.
  std::deque<std::string> unescaped;

  // The first character of token `index`; NUL after the last token.
  [[nodiscard]] char first(std::size_t index) const {
    return index < starts.size() ? text[starts[index]] : '\0';
  }

  [[nodiscard]] std::size_t offset(std::size_t index) const {
    return index < starts.size() ? starts[index] : text.size();
  }

  [[nodiscard]] std::string_view token(std::size_t index) const {
    std::size_t end = offset(index + 1);
    while (is_space(text[end - 1])) --end;
    return text.substr(starts[index], end - starts[index]);
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
};

}  // namespace eventq
