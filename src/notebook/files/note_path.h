// note_path.h: the rules for paths in a notebook. Pure.
//
// A path is relative, UTF-8, with "/" between names. It can name nothing outside the notebook and nothing in
// .git or kOwnFolder.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"

namespace eventq::notebook {

inline constexpr std::size_t kPath = 1024;  // bytes of a whole path
inline constexpr std::size_t kName = 255;   // bytes of one name in it
inline constexpr std::string_view kOwnFolder =
    ".eventq";  // new files before they are renamed into place, and files about to be deleted

// Returns the path itself if it is valid. Errors: invalid_argument; the message names the problem and a valid
// form.
Result<std::string> note_path(std::string_view text);

// The path that a caller means: one "/" at the beginning is the notebook's own folder, never the system's
// root, so "/etc/x.md" is "etc/x.md". The result has no "/" at the beginning. Errors: as note_path().
Result<std::string> requested_path(std::string_view text);

// The folder that contains `path`; empty at the top.
std::string_view parent_of(std::string_view path);
// All folders that contain `path`, outermost first: "a/b/c" -> "a", "a/b".
std::vector<std::string> folders_of(std::string_view path);
// Whether `path` is `folder` or lies in it, at any depth.
bool is_within(std::string_view path, std::string_view folder);
// Whether one of the two paths is the other or lies in it.
bool overlap(std::string_view a, std::string_view b);

}  // namespace eventq::notebook
