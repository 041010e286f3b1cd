// terminal_text.cc: see terminal_text.h.
#include "cli/terminal/terminal_text.h"

#include <clocale>
#include <cstdint>
#include <cwchar>

#include "base/utf8.h"
#include "server/settings.h"

namespace eventq::cli {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

// The length in bytes of the first character of `text`; 0 if it is not UTF-8. REQUIRES: `text` is not empty.
std::size_t char_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  // An invalid first byte gets some length, too; valid_utf8() refuses it.
  const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  return length <= text.size() && valid_utf8(text.substr(0, length)) ? length : 0;
}

std::uint32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  std::uint32_t code = byte(0) & (0xFFU >> (character.size() + 1));
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3FU);
  return code;
}

// C0, DEL, C1, line separators, and bidirectional formatting characters.
bool is_hidden(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

void append_escaped(std::string& out, std::uint32_t code) {
  if (code == '\n' || code == '\t' || code == '\r') {
    out += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    return;
  }
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[code >> shift & 0xF];
}

// wcwidth() depends on the locale, and the user's may not be UTF-8, so this function switches to C.UTF-8.
std::size_t columns_of(std::uint32_t code) {
  // The combining marks start at U+0300, and no printable character below is wide.
  if (code < 0x300) return 1;
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) return 1;
  const locale_t before = uselocale(utf8);
  const int columns = wcwidth(static_cast<wchar_t>(code));
  uselocale(before);
  return columns < 0 ? 1 : static_cast<std::size_t>(columns);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = char_length(text);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(text.front());
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 0xF];
      text.remove_prefix(1);
      continue;
    }
    const std::uint32_t code = code_point(text.substr(0, length));
    if (is_hidden(code)) {
      append_escaped(out, code);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string in_quotes(std::string_view text) { return server::toml_string(text); }

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const std::size_t length = char_length(text);
    if (length == 0) return width + text.size();
    width += columns_of(code_point(text.substr(0, length)));
    text.remove_prefix(length);
  }
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::size_t used = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t length = char_length(text.substr(end));
    if (length == 0) break;
    const std::size_t columns = columns_of(code_point(text.substr(end, length)));
    // One column is kept for the ….
    if (used + columns > width - 1) break;
    used += columns;
    end += length;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

}  // namespace eventq::cli
