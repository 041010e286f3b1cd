// json_lines.h: a JSON text as "where = what", one line a value, to compare and to print.
//
//   {"a":{"b":[1,"x"]},"c":[]}  ->  a.b[0] = 1, a.b[1] = "x", c = []
//
// Strings stand in quotes and without escapes, numbers as sent. What a member named `payload` holds
// is one line, byte for byte as sent.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace eventq {

using JsonLines = std::map<std::string, std::string>;

// Of an empty text there are none; of one that is not JSON there is one, which says so.
JsonLines json_lines(std::string_view text);

// The lines that differ, both sides of each: empty when they are the same.
std::string difference(const JsonLines& expected, const JsonLines& actual);

// The same for the lines of `expected` only; `actual` may have more.
std::string missing(const JsonLines& expected, const JsonLines& actual);

}  // namespace eventq
