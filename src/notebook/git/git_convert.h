// git_convert.h: converts a file's content as `git add` does: line ends and $Id$. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace eventq::notebook::git {

// keep: no conversion. text: CR LF becomes LF. guess: the same, but only for content that looks like text
// (text=auto, core.autocrlf).
enum class LineEnds : std::uint8_t { keep, text, guess };

struct Conversion {
  LineEnds ends = LineEnds::keep;
  bool ident = false;  // "$Id: anything $" becomes "$Id$"
  friend bool operator==(const Conversion&, const Conversion&) = default;
};

// Whether content looks like text and has a CR LF. Git keeps the line ends of a file whose recorded content
// is so, unless they are `text`.
bool is_text_with_crlf(std::string_view content);

std::string converted(std::string content, const Conversion& how);

}  // namespace eventq::notebook::git
