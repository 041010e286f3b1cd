// git_wildmatch.h: matches a path with a pattern of .gitattributes as git's wildmatch() does. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace eventq::notebook::git {

struct WildOptions {
  bool path = false;         // "/" is matched only by "/" and "**", as for a pattern with a "/"
  bool ignore_case = false;  // core.ignorecase
};

bool wild_match(std::string_view pattern, std::string_view text, WildOptions options);

}  // namespace eventq::notebook::git
