// note_path.h: which paths a notebook takes. Pure.
//
// A path is relative, UTF-8, with "/" between names. It names nothing outside the notebook and
// nothing of git's or ours inside it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"

namespace eventq::notebook {

inline constexpr std::size_t kPath = 1024;                 // bytes of a whole path
inline constexpr std::size_t kName = 255;                  // bytes of one name in it
inline constexpr std::string_view kOwnFolder = ".eventq";  // where files are on their way in or out

// The path itself, if a notebook takes it. Errors: invalid_argument, too_large; the message says what is
// wrong with it and what would be right.
Result<std::string> note_path(std::string_view text);

// The folder it lies in; empty at the top.
std::string_view parent_of(std::string_view path);
// All folders it lies in, outermost first: "a/b/c" -> "a", "a/b".
std::vector<std::string> folders_of(std::string_view path);
// It is `folder` or lies in it, at any depth.
bool is_within(std::string_view path, std::string_view folder);
// One of the two is the other or lies in it.
bool overlap(std::string_view a, std::string_view b);

}  // namespace eventq::notebook
