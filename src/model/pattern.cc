// pattern.cc: see pattern.h.
#include "model/pattern.h"

#include <algorithm>
#include <string>
#include <vector>

#include "eventq/limits.h"

namespace eventq {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t dot = text.find('.');
    words.push_back(text.substr(0, dot));
    if (dot == text.npos) return words;
    text.remove_prefix(dot + 1);
  }
}

bool has_empty(const std::vector<std::string_view>& words) {
  return std::any_of(words.begin(), words.end(), [](std::string_view word) { return word.empty(); });
}

Error bad(std::string_view pattern, std::string_view why) {
  return {ErrorCode::invalid_argument,
          "The pattern \"" + std::string(pattern) + "\" " + std::string(why) +
              " Patterns are such as invoice.created, invoice.* or invoice.>",
          "pattern"};
}

}  // namespace

std::optional<Error> validate_pattern(std::string_view pattern) {
  if (pattern.size() > limits::kPattern) {
    return Error{ErrorCode::too_large,
                 "pattern has " + std::to_string(pattern.size()) + " bytes; at most " +
                     std::to_string(limits::kPattern) + " are allowed.",
                 "pattern"};
  }
  const auto words = words_of(pattern);
  if (has_empty(words)) return bad(pattern, "has an empty word.");
  for (const std::string_view word : words) {
    if (word.size() > 1 && word.find_first_of("*>") != word.npos) {
      return bad(pattern, "has a * or > inside a word; they stand for whole words.");
    }
  }
  const auto rest = std::find(words.begin(), words.end(), ">");
  if (rest != words.end() && rest + 1 != words.end()) {
    return bad(pattern, "has a > before its last word.");
  }
  return std::nullopt;
}

bool pattern_fits(std::string_view pattern, std::string_view happened) {
  const auto wanted = words_of(pattern);
  const auto words = words_of(happened);
  if (has_empty(words)) return false;

  const bool open = wanted.back() == ">";
  const std::size_t fixed = wanted.size() - (open ? 1 : 0);
  if (open ? words.size() <= fixed : words.size() != fixed) return false;
  for (std::size_t i = 0; i < fixed; ++i) {
    if (wanted[i] != "*" && wanted[i] != words[i]) return false;
  }
  return true;
}

}  // namespace eventq
