// tidy_docs.cc: the rules of tidy.h for Markdown pages: links.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "tidy.h"
#include "tidy_text.h"

namespace eventq::tidy {
namespace {

std::size_t line_of(const std::string& text, std::size_t at) {
  return 1 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

// The anchor that GitHub gives a heading: lower case, blanks to hyphens, without punctuation.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80) {
      anchor += static_cast<char>(std::tolower(byte));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

std::set<std::string> anchors_in(const File& page) {
  // A heading in a code block is none, but a `span` in a heading is part of its anchor.
  std::vector<std::string> original;
  each_line(page.text, [&](std::size_t, const std::string& line) { original.push_back(line); });
  static const std::regex heading(R"(^#{1,6} +(.*[^ #])[ #]*$)");
  static const std::regex link(R"(\[([^\]]*)\]\([^)]*\))");
  static const std::regex explicit_anchor(R"re(<a (?:id|name)="([^"]+)")re");
  std::set<std::string> anchors;
  std::map<std::string, int> seen;
  each_line(prose_of(page.text), [&](std::size_t number, const std::string& line) {
    std::smatch match;
    if (line.starts_with('#') && std::regex_match(original[number - 1], match, heading)) {
      const std::string anchor = anchor_of(std::regex_replace(match.str(1), link, "$1"));
      const int before = seen[anchor]++;
      anchors.insert(before == 0 ? anchor : anchor + "-" + std::to_string(before));
    }
    if (std::regex_search(line, match, explicit_anchor)) anchors.insert(match[1]);
  });
  return anchors;
}

}  // namespace

Faults check_links(const std::vector<File>& pages, const std::function<bool(const std::string&)>& exists) {
  std::map<std::string, std::set<std::string>> anchors;
  for (const File& page : pages) anchors[page.path] = anchors_in(page);

  // [text](target "title"), and [name]: target at the start of a line.
  static const std::regex link(R"(\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|(?:^|\n)\[[^\]]+\]: +(\S+))");
  static const std::regex scheme(R"(^[a-zA-Z][a-zA-Z0-9+.-]*:)");
  Faults faults;
  for (const File& page : pages) {
    const std::string prose = prose_of(page.text);
    for (std::sregex_iterator it(prose.begin(), prose.end(), link), end; it != end; ++it) {
      const std::size_t group = (*it)[1].matched ? 1 : 2;
      const std::string target = (*it)[group];
      if (std::regex_search(target, scheme)) continue;
      const std::size_t line = line_of(prose, static_cast<std::size_t>(it->position(group)));
      const std::size_t hash = std::min(target.find('#'), target.size());
      const std::filesystem::path folder = std::filesystem::path(page.path).parent_path();
      std::string path =
          hash == 0 ? page.path : (folder / target.substr(0, hash)).lexically_normal().generic_string();
      if (path.ends_with('/')) path.pop_back();
      if (hash > 0 && !exists(path)) {
        faults.push_back({page.path, line, target + ": there is no such file"});
      } else if (hash < target.size() && anchors.contains(path) &&
                 !anchors[path].contains(target.substr(hash + 1))) {
        faults.push_back({page.path, line, target + ": there is no such heading"});
      }
    }
  }
  return faults;
}

}  // namespace eventq::tidy
