// json_token.h: the syntax of a JSON number and the escape sequences of a JSON string.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace eventq {

// Whether the whole token is a JSON number (RFC 8259, section 6).
[[nodiscard]] bool is_json_number(std::string_view token);

struct JsonEscapeFault {
  const char* reason;  // "a string holds ..."
  std::size_t offset;  // of the backslash in the body
};

// Appends the decoded `body`, which is a JSON string without its quotes. Returns the first bad escape
// sequence. Lone surrogates are refused, because UTF-8 cannot encode them.
// REQUIRES: `body` is valid UTF-8.
std::optional<JsonEscapeFault> append_unescaped(std::string& out, std::string_view body);

}  // namespace eventq
