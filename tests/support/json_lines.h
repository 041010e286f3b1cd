// json_lines.h: a JSON text as lines of "path = value", so that tests compare texts and show differences.
//
//   {"a":{"b":[1,"x"]},"c":[]}  ->  a.b[0] = 1, a.b[1] = "x", c = []
//
// Strings are quoted and unescaped, numbers are as sent. A member named `payload` is one line with its bytes
// as sent.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace eventq {

using JsonLines = std::map<std::string, std::string>;

// An empty text has no lines. A text that is not JSON has one line with the error.
JsonLines json_lines(std::string_view text);

// Both versions of each line that differs; empty when all lines are equal.
std::string difference(const JsonLines& expected, const JsonLines& actual);

// The same, but only for lines of `expected`; `actual` may have more.
std::string missing(const JsonLines& expected, const JsonLines& actual);

}  // namespace eventq
