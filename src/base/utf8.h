// utf8.h: checks, counts and cuts UTF-8 text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace eventq {

[[nodiscard]] bool valid_utf8(std::string_view text);

// The number of code points. A character as displayed may have several.
// REQUIRES: `text` is valid UTF-8.
[[nodiscard]] std::size_t utf8_chars(std::string_view text);

// Whether the text contains one of U+0000 to U+001F, or U+007F.
[[nodiscard]] bool has_control(std::string_view text);

// The text with U+FFFD in place of each byte that is not part of a valid code point.
[[nodiscard]] std::string to_valid_utf8(std::string_view text);

// The longest prefix of whole code points that fits into `limit` bytes.
// REQUIRES: `text` is valid UTF-8.
[[nodiscard]] std::string cut_utf8(std::string text, std::size_t limit);

// The longest suffix of whole code points that fits into `limit` bytes.
[[nodiscard]] std::string utf8_end(std::string text, std::size_t limit);

}  // namespace eventq
