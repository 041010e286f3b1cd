// git_wildmatch.cc: see git_wildmatch.h.
#include "notebook/git/git_wildmatch.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>

namespace eventq::notebook::git {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool is_in_class(std::string_view name, char c) {
  const int u = static_cast<unsigned char>(c);
  if (name == "alnum") return std::isalnum(u) != 0;
  if (name == "alpha") return std::isalpha(u) != 0;
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "cntrl") return std::iscntrl(u) != 0;
  if (name == "digit") return std::isdigit(u) != 0;
  if (name == "graph") return std::isgraph(u) != 0;
  if (name == "lower") return std::islower(u) != 0;
  if (name == "print") return std::isprint(u) != 0;
  if (name == "punct") return std::ispunct(u) != 0;
  if (name == "space") return std::isspace(u) != 0;
  if (name == "upper") return std::isupper(u) != 0;
  return name == "xdigit" && std::isxdigit(u) != 0;
}

class WildMatch {
 public:
  WildMatch(std::string_view pattern, std::string_view text, WildOptions options)
      : pattern_(pattern), text_(text), options_(options) {}

  // Whether the rest of the pattern from `p` matches the rest of the text from `t`.
  [[nodiscard]] bool from(std::size_t p, std::size_t t) const {
    while (p < pattern_.size()) {
      const char c = pattern_[p];
      if (c == '*') return star(p, t);
      if (t == text_.size()) return false;
      if (c == '?') {
        if (options_.path && text_[t] == '/') return false;
        ++p;
      } else if (c == '[') {
        const auto after = bracket(p, text_[t]);
        if (!after) return false;
        p = *after;
      } else {
        if (c == '\\' && ++p == pattern_.size()) return false;
        if (!is_same(pattern_[p], text_[t])) return false;
        ++p;
      }
      ++t;
    }
    return t == text_.size();
  }

 private:
  [[nodiscard]] bool is_same(char a, char b) const {
    return options_.ignore_case ? lower(a) == lower(b) : a == b;
  }

  // "**" matches "/" only as a whole name: "**/a", "a/**", "a/**/b". Elsewhere it is like "*".
  [[nodiscard]] bool star(std::size_t p, std::size_t t) const {
    const std::size_t after = std::min(pattern_.find_first_not_of('*', p), pattern_.size());
    const bool is_double = after - p > 1;
    const bool begins = p == 0 || pattern_[p - 1] == '/';
    const std::string_view rest = pattern_.substr(after);
    const bool ends = rest.empty() || rest.front() == '/' || rest.starts_with("\\/");
    const bool crosses = !options_.path || (is_double && begins && ends);
    // "**/" also matches no folder at all.
    if (options_.path && crosses && rest.starts_with('/') && from(after + 1, t)) return true;
    for (std::size_t at = t;; ++at) {
      if (from(after, at)) return true;
      if (at == text_.size() || (!crosses && text_[at] == '/')) return false;
    }
  }

  // The position after the bracket at `p` if it matches `c`; empty: no match, or no closing bracket.
  [[nodiscard]] std::optional<std::size_t> bracket(std::size_t p, char c) const {
    const auto at = [&](std::size_t i) { return i < pattern_.size() ? pattern_[i] : '\0'; };
    ++p;
    const bool negated = at(p) == '!' || at(p) == '^';
    if (negated) ++p;
    bool matched = false;
    for (bool first = true; first || at(p) != ']'; first = false) {
      if (p >= pattern_.size()) return std::nullopt;
      if (at(p) == '[' && at(p + 1) == ':') {
        const std::size_t end = pattern_.find(":]", p + 2);
        if (end == pattern_.npos) return std::nullopt;
        const std::string_view name = pattern_.substr(p + 2, end - p - 2);
        matched |=
            is_in_class(name, c) || (options_.ignore_case && name == "upper" && is_in_class("lower", c));
        p = end + 2;
        continue;
      }
      if (at(p) == '\\') ++p;
      const char low = at(p++);
      char high = low;
      if (at(p) == '-' && p + 1 < pattern_.size() && at(p + 1) != ']') {
        if (at(++p) == '\\') ++p;
        high = at(p++);
      }
      matched |= is_between(low, c, high) || (options_.ignore_case && is_between(low, lower(c), high));
    }
    if (matched == negated || (options_.path && c == '/')) return std::nullopt;
    return p + 1;
  }
  static bool is_between(char low, char c, char high) {
    return static_cast<unsigned char>(low) <= static_cast<unsigned char>(c) &&
           static_cast<unsigned char>(c) <= static_cast<unsigned char>(high);
  }

  const std::string_view pattern_;
  const std::string_view text_;
  const WildOptions options_;
};

}  // namespace

bool wild_match(std::string_view pattern, std::string_view text, WildOptions options) {
  return WildMatch(pattern, text, options).from(0, 0);
}

}  // namespace eventq::notebook::git
