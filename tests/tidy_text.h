// tidy_text.h: what the rules of tidy.h share: parts of a C++ file, prose of a Markdown page, lines.
//
// Not a parser: it relies on the layout that clang-format makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tidy.h"

namespace eventq::tidy {

// Whether `path` is `folder` or in it.
bool is_in(std::string_view path, std::string_view folder);

bool is_cpp(const File& file);
bool is_page(const File& file);  // Markdown
bool is_test_or_bench(const File& file);

void each_line(const std::string& text, const std::function<void(std::size_t, const std::string&)>& visit);

// One Fault for each line of `text` in which `pattern` is found. `text` has the lines of `file`.
Faults find(const File& file, const std::string& text, const std::string& pattern, const std::string& advice);

enum class Part : std::uint8_t { code, comment, literal };

// C++ with everything except `kept` replaced by blanks; lines and columns stay.
std::string only(const std::string& text, Part kept);

// A Markdown page with code replaced: blocks by blanks, `spans` by X. Lines and columns stay.
std::string prose_of(const std::string& text);

}  // namespace eventq::tidy
