// tags.h: checks, splits and joins lists of tags. Case matters, order is kept, and repeated tags are dropped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"

namespace eventq {

// "email, priority-high" -> {"email", "priority-high"}.
// Errors: invalid_argument with field "tags" for an empty list, an empty tag, a character outside
// [A-Za-z0-9._:/@-], and a tag or list that is too long.
Result<std::vector<std::string>> parse_tags(std::string_view comma_separated);

// The same rules for a list: trims each tag and drops repeated ones.
Result<std::vector<std::string>> clean_tags(const std::vector<std::string>& tags);

std::string join_tags(const std::vector<std::string>& tags);

// The inverse of join_tags(). Checks nothing.
std::vector<std::string> split_tags(std::string_view joined);

// Whether one of `tags` is in `wanted`, or `wanted` is empty.
bool has_any(const std::vector<std::string>& tags, const std::vector<std::string>& wanted);

// Whether the text has only letters, digits and . _ : / @ - : the characters of tags and queue names.
bool is_name(std::string_view text);

}  // namespace eventq
