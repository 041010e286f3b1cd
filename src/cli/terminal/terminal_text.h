// terminal_text.h: makes text safe for a terminal, and measures its width there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace eventq::cli {

// Escapes control characters, also those that change the text direction, as \n, \t or \u001b, and bytes that
// are not UTF-8 as \xff. So data from a server cannot control the terminal.
[[nodiscard]] std::string printable(std::string_view text);

// `text` in double quotes, with escapes as in TOML, so that it stays on one line of a message.
[[nodiscard]] std::string in_quotes(std::string_view text);

// The number of columns; a wide character has two. REQUIRES: text is printable().
[[nodiscard]] std::size_t display_width(std::string_view text);

// At most `width` columns of `text`; the last one is … when text was cut off. REQUIRES: text is printable().
[[nodiscard]] std::string cut_to_width(std::string_view text, std::size_t width);

// Pads `text` with blanks to `width` columns. Longer text is returned unchanged.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);

}  // namespace eventq::cli
