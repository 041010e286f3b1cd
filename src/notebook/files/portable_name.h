// portable_name.h: which names every common system can hold. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "eventq/error.h"

namespace eventq::notebook {

// The error for a path with a name that Windows cannot hold: one that ends with a dot or a blank, or has one
// of < > : " | ? *. REQUIRES: note_path() accepts the path.
std::optional<Error> unportable_name(std::string_view path);

// The text with each letter in lower case, as file systems compare names that ignore case. REQUIRES: UTF-8.
std::string case_folded(std::string_view text);

}  // namespace eventq::notebook
