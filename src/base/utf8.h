// utf8.h: what a text is made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace eventq {

[[nodiscard]] bool valid_utf8(std::string_view text);

// Code points, not what a reader would call characters. REQUIRES: valid UTF-8.
[[nodiscard]] std::size_t utf8_chars(std::string_view text);

// U+0000 to U+001F, or U+007F.
[[nodiscard]] bool has_control(std::string_view text);

// The text with U+FFFD in place of each byte that belongs to no character.
[[nodiscard]] std::string to_valid_utf8(std::string_view text);

// As many whole characters from its start as fit into `limit` bytes. REQUIRES: valid UTF-8.
[[nodiscard]] std::string cut_utf8(std::string text, std::size_t limit);

}  // namespace eventq
