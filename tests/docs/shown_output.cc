// shown_output.cc: see shown_output.h.
#include "docs/shown_output.h"

#include <cctype>
#include <regex>
#include <utility>

namespace eventq {
namespace {

constexpr const char* kTime = R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)";
constexpr const char* kId =
    R"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{40}\b)";
constexpr const char* kPort = R"(127\.0\.0\.1:\d+)";

bool is_json(const std::string& text) { return text.starts_with('{') || text.starts_with('['); }

// Without white space outside of strings.
std::string compact_json(const std::string& text) {
  std::string compact;
  bool is_in_string = false;
  bool is_escaped = false;
  for (const char c : text) {
    if (c == '"' && !is_escaped) is_in_string = !is_in_string;
    is_escaped = c == '\\' && !is_escaped;
    if (is_in_string || std::isspace(static_cast<unsigned char>(c)) == 0) compact += c;
  }
  return compact;
}

// Runs of white space are one blank, a line ends without any, and so does the text.
std::string plain_text(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (c == '\n') {
      while (plain.ends_with(' ')) plain.pop_back();
      plain += '\n';
    } else if (!is_space) {
      plain += c;
    } else if (!plain.ends_with(' ')) {
      plain += ' ';
    }
  }
  while (plain.ends_with('\n') || plain.ends_with(' ')) plain.pop_back();
  return plain;
}

std::string normal(const std::string& text) { return is_json(text) ? compact_json(text) : plain_text(text); }

std::string escaped(const std::string& text) {
  return std::regex_replace(text, std::regex(R"([.^$|()\[\]{}*+?\\])"), R"(\$&)");
}

}  // namespace

std::string ShownOutput::difference(const std::vector<std::string>& shown, const std::string& printed) {
  std::string text;
  for (const std::string& line : shown) text += line + "\n";
  const std::string expected = normal(text);
  const std::string found = normal(printed);

  // One pattern from the whole text: the parts between values that vary are literal.
  static const std::regex varies("(" + std::string(kTime) + ")|(" + kId + ")|(" + kPort + ")|(…)");
  std::string pattern;
  std::vector<std::string> new_ids;
  std::string rest = expected;
  for (std::smatch match; std::regex_search(rest, match, varies); rest = match.suffix().str()) {
    pattern += escaped(match.prefix());
    if (match[1].matched) pattern += kTime;
    if (match[3].matched) pattern += kPort;
    if (match[4].matched) pattern += R"([\s\S]*?)";
    if (!match[2].matched) continue;
    const auto own_id = ids_.find(match[2]);
    pattern += own_id == ids_.end() ? "(" + std::string(kId) + ")" : escaped(own_id->second);
    if (own_id == ids_.end()) new_ids.push_back(match[2]);
  }
  pattern += escaped(rest);

  std::smatch match;
  if (!std::regex_match(found, match, std::regex(pattern))) {
    return "the page shows:\n" + expected + "\nthe command printed:\n" + found;
  }
  for (std::size_t i = 0; i < new_ids.size(); ++i) ids_.emplace(new_ids[i], match[i + 1]);
  return "";
}

std::string ShownOutput::with_own_ids(const std::string& command) const {
  std::string text = command;
  for (const auto& [shown, own] : ids_) text = std::regex_replace(text, std::regex(escaped(shown)), own);
  return text;
}

}  // namespace eventq
