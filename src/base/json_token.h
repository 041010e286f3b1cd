// json_token.h: what a JSON number and a JSON string look like inside.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace eventq {

// Whether the whole token is a number of the JSON grammar (RFC 8259, section 6).
[[nodiscard]] bool is_json_number(std::string_view token);

struct JsonEscapeFault {
  const char* reason;  // "a string holds ..."
  std::size_t offset;  // of the backslash, within the body
};

// Appends what the body of a string (without its quotes) stands for. `body` is
// valid UTF-8 and ends outside of an escape sequence or in the middle of a bad one.
// Lone surrogates are refused: they have no UTF-8.
std::optional<JsonEscapeFault> append_unescaped(std::string& out, std::string_view body);

}  // namespace eventq
