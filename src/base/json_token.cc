// json_token.cc: see json_token.h.
#include "base/json_token.h"

#include <cstdint>

#include "base/ascii.h"
#include "base/numbers.h"

namespace eventq {
namespace {

std::size_t skip_digits(std::string_view token, std::size_t at) {
  while (at < token.size() && is_digit(token[at])) ++at;
  return at;
}

// The value of the four hexadecimal digits at the start of `text`; nothing when there are none.
std::optional<std::uint32_t> four_hex_digits(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  return parse_all<std::uint32_t>(text.substr(0, 4), 16);
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto append = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    append(code);
  } else if (code < 0x800) {
    append(0xC0 | code >> 6);
    append(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    append(0xE0 | code >> 12);
    append(0x80 | (code >> 6 & 0x3F));
    append(0x80 | (code & 0x3F));
  } else {
    append(0xF0 | code >> 18);
    append(0x80 | (code >> 12 & 0x3F));
    append(0x80 | (code >> 6 & 0x3F));
    append(0x80 | (code & 0x3F));
  }
}

bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }

bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

constexpr const char* kBadEscape = "a string holds an unknown escape sequence";
constexpr const char* kLoneSurrogate = "a string holds a lone surrogate";

// A decoded escape sequence and its length in the text.
struct Escape {
  std::uint32_t code = 0;
  std::size_t size = 0;
  const char* fault = nullptr;
};

// Decodes \uXXXX, or the two of a surrogate pair.
Escape unicode_escape(std::string_view text) {
  const auto high = four_hex_digits(text.substr(2));
  if (!high) return {.fault = kBadEscape};
  if (is_low_surrogate(*high)) return {.fault = kLoneSurrogate};
  if (!is_high_surrogate(*high)) return {.code = *high, .size = 6};

  if (!text.substr(6).starts_with("\\u")) return {.fault = kLoneSurrogate};
  const auto low = four_hex_digits(text.substr(8));
  if (!low) return {.fault = kBadEscape};
  if (!is_low_surrogate(*low)) return {.fault = kLoneSurrogate};
  return {.code = 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00), .size = 12};
}

Escape read_escape(std::string_view text) {
  switch (text.size() < 2 ? '\0' : text[1]) {
    case '"': return {.code = '"', .size = 2};
    case '\\': return {.code = '\\', .size = 2};
    case '/': return {.code = '/', .size = 2};
    case 'b': return {.code = '\b', .size = 2};
    case 'f': return {.code = '\f', .size = 2};
    case 'n': return {.code = '\n', .size = 2};
    case 'r': return {.code = '\r', .size = 2};
    case 't': return {.code = '\t', .size = 2};
    case 'u': return unicode_escape(text);
    default: return {.fault = kBadEscape};
  }
}

}  // namespace

bool is_json_number(std::string_view token) {
  std::size_t at = token.starts_with('-') ? 1 : 0;

  const std::size_t whole = at;
  at = skip_digits(token, at);
  if (at == whole) return false;
  if (token[whole] == '0' && at > whole + 1) return false;

  if (at < token.size() && token[at] == '.') {
    const std::size_t fraction = at + 1;
    at = skip_digits(token, fraction);
    if (at == fraction) return false;
  }

  if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
    ++at;
    if (at < token.size() && (token[at] == '+' || token[at] == '-')) ++at;
    const std::size_t exponent = at;
    at = skip_digits(token, exponent);
    if (at == exponent) return false;
  }
  return at == token.size();
}

std::optional<JsonEscapeFault> append_unescaped(std::string& out, std::string_view body) {
  std::size_t at = 0;
  while (true) {
    const std::size_t backslash = body.find('\\', at);
    out.append(body.substr(at, backslash - at));
    if (backslash == std::string_view::npos) return std::nullopt;

    const Escape escape = read_escape(body.substr(backslash));
    if (escape.fault != nullptr) return JsonEscapeFault{escape.fault, backslash};
    append_utf8(out, escape.code);
    at = backslash + escape.size;
  }
}

}  // namespace eventq
