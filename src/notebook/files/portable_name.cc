// portable_name.cc: see portable_name.h.
#include "notebook/files/portable_name.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace eventq::notebook {
namespace {

// The C library has this locale built in. Its mapping of letters is that of Unicode.
locale_t unicode() {
  static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

// The character at the beginning of `text`, and its number of bytes.
std::pair<std::uint32_t, std::size_t> first_char(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at]));
  };
  const std::uint32_t lead = byte(0);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint32_t value = size == 1 ? lead : lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size && i < text.size(); ++i) value = value << 6U | (byte(i) & 0x3FU);
  return {value, std::min(size, text.size())};
}

void append_char(std::string& text, std::uint32_t value) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (value < 0x80) return add(value);
  if (value < 0x800) {
    add(0xC0U | value >> 6U);
  } else {
    if (value < 0x10000) {
      add(0xE0U | value >> 12U);
    } else {
      add(0xF0U | value >> 18U);
      add(0x80U | (value >> 12U & 0x3FU));
    }
    add(0x80U | (value >> 6U & 0x3FU));
  }
  add(0x80U | (value & 0x3FU));
}

}  // namespace

std::optional<Error> unportable_name(std::string_view path) {
  const auto refused = [](std::string_view name, const char* why) {
    std::string message = '"' + std::string(name) + "\" ";
    message += why;
    message +=
        "; use another name. The setting portable_names of the notebook allows such names when it is false.";
    return Error{ErrorCode::invalid_argument, std::move(message), "path"};
  };
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.ends_with('.') || name.ends_with(' ')) {
      return refused(name, "ends with a dot or a blank, which Windows drops");
    }
    if (name.find_first_of("<>:\"|?*") != name.npos) {
      return refused(name, "has one of < > : \" | ? *, which Windows refuses");
    }
  }
  return std::nullopt;
}

std::string case_folded(std::string_view text) {
  std::string folded;
  while (!text.empty()) {
    const auto [value, size] = first_char(text);
    append_char(folded, static_cast<std::uint32_t>(::towlower_l(static_cast<wint_t>(value), unicode())));
    text.remove_prefix(size);
  }
  return folded;
}

}  // namespace eventq::notebook
