// tags.h: what a list of tags looks like. Case matters; order is kept; a repeated tag counts once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"

namespace eventq {

// "email, priority-high" -> {"email", "priority-high"}.
// Errors: invalid_argument with field "tags" for an empty list, an empty tag,
// a character outside [A-Za-z0-9._:/@-], a tag or a list that is too long.
Result<std::vector<std::string>> parse_tags(std::string_view comma_separated);

// The same rules for a list: trims each, drops repeats.
Result<std::vector<std::string>> clean_tags(const std::vector<std::string>& tags);

std::string join_tags(const std::vector<std::string>& tags);

// Back from join_tags(); trusts its input.
std::vector<std::string> split_tags(std::string_view joined);

// One of `tags` is among the wanted; true, too, when none is wanted.
bool has_any(const std::vector<std::string>& tags, const std::vector<std::string>& wanted);

// Letters, digits and . _ : / @ - : the characters of tags and queue names.
bool is_name(std::string_view text);

}  // namespace eventq
