// tags.cc: see tags.h.
#include "model/tags.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"
#include "eventq/limits.h"

namespace eventq {
namespace {

bool is_name_char(char c) {
  return is_alphanumeric(c) || std::string_view("._:/@-").find(c) != std::string_view::npos;
}

Error bad_tags(std::string message) { return {ErrorCode::invalid_argument, std::move(message), "tags"}; }

// An empty text, or what is wrong with a trimmed tag.
std::string fault_of(std::string_view tag) {
  if (tag.empty()) return "A tag is empty; each tag needs 1 to 64 characters.";
  if (!is_name(tag)) {
    // A long tag is not quoted, because it may not be UTF-8 and so cannot be cut safely.
    const bool is_short = tag.size() <= limits::kTagChars;
    return (is_short ? "The tag \"" + std::string(tag) + "\"" : "A tag") +
           " has a character that is not allowed; use only A-Z a-z 0-9 . _ : / @ and -.";
  }
  if (tag.size() > limits::kTagChars) {
    return "The tag \"" + std::string(tag.substr(0, limits::kTagChars)) + "...\" has " +
           std::to_string(tag.size()) + " characters; a tag may have 64.";
  }
  return {};
}

}  // namespace

bool has_any(const std::vector<std::string>& tags, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return true;
  return std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return std::find(wanted.begin(), wanted.end(), tag) != wanted.end();
  });
}

bool is_name(std::string_view text) { return std::all_of(text.begin(), text.end(), is_name_char); }

Result<std::vector<std::string>> clean_tags(const std::vector<std::string>& tags) {
  std::vector<std::string> cleaned;
  cleaned.reserve(std::min(tags.size(), limits::kTags));
  for (const std::string& sent : tags) {
    const std::string_view tag = trim(sent);
    if (std::string fault = fault_of(tag); !fault.empty()) return bad_tags(std::move(fault));
    if (std::find(cleaned.begin(), cleaned.end(), tag) != cleaned.end()) continue;
    if (cleaned.size() == limits::kTags)
      return bad_tags("There are more than 32 tags; at most 32 are allowed.");
    cleaned.emplace_back(tag);
  }
  if (cleaned.empty())
    return bad_tags("There are no tags; 1 to 32 are needed, such as \"email,priority-high\".");
  return cleaned;
}

Result<std::vector<std::string>> parse_tags(std::string_view comma_separated) {
  if (trim(comma_separated).empty()) return clean_tags({});
  return clean_tags(split_tags(comma_separated));
}

std::string join_tags(const std::vector<std::string>& tags) {
  std::string joined;
  for (const std::string& tag : tags) {
    if (!joined.empty()) joined += ',';
    joined += tag;
  }
  return joined;
}

std::vector<std::string> split_tags(std::string_view joined) {
  std::vector<std::string> tags;
  for (;;) {
    const std::size_t comma = joined.find(',');
    tags.emplace_back(joined.substr(0, comma));
    if (comma == std::string_view::npos) return tags;
    joined.remove_prefix(comma + 1);
  }
}

}  // namespace eventq
