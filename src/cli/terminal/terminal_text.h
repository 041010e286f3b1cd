// terminal_text.h: text that a terminal may be shown, and the room it takes there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace eventq::cli {

// Safe to show: control characters as \n, \t or \u001b, among them those that turn text round; bytes that
// are not UTF-8 as \xff.
[[nodiscard]] std::string printable(std::string_view text);

// `text` in double quotes, with escapes as in TOML, so that it stays on one line of a message.
[[nodiscard]] std::string in_quotes(std::string_view text);

// Columns, wide characters counted twice. REQUIRES: printable.
[[nodiscard]] std::size_t display_width(std::string_view text);

// At most `width` columns of `text`, the last one … when something is left out. REQUIRES: printable.
[[nodiscard]] std::string cut_to_width(std::string_view text, std::size_t width);

// `text` and blanks behind it, `width` columns in all. A longer one stays as it is.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);

}  // namespace eventq::cli
