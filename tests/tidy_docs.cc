// tidy_docs.cc: the rules of tidy.h for Markdown pages: links, sentences, tables.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

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

struct Word {
  std::string text;
  std::size_t line;
};

// The words of each paragraph and each item of a list, without headings, tables and the targets of links.
std::vector<std::vector<Word>> paragraphs_of(const std::string& prose) {
  static const std::regex item(R"(^ *(?:[-*+]|[0-9]+[.)]) +)");
  static const std::regex skipped(R"(^ *(?:[#|<]|\[[^\]]+\]: ))");
  std::vector<std::vector<Word>> paragraphs(1);
  each_line(prose, [&](std::size_t number, std::string line) {
    const bool is_skipped = std::regex_search(line, skipped);
    if (line.find_first_not_of(' ') == line.npos || is_skipped || std::regex_search(line, item)) {
      paragraphs.emplace_back();
    }
    if (is_skipped) return;
    line = std::regex_replace(line, item, "");
    std::istringstream words(line);
    for (std::string word; words >> word;) paragraphs.back().push_back({word, number});
  });
  return paragraphs;
}

// A full stop, exclamation or question mark, perhaps with what closes behind it.
bool ends_sentence(const std::string& word) {
  static const std::regex end(R"([.!?][)\]*_"']*$)");
  return std::regex_search(word, end);
}

// A link without its target, so that no target counts as words. Lines stay.
std::string without_targets(const std::string& prose) {
  static const std::regex target(R"(\]\([^)]*\))");
  std::string out;
  std::size_t from = 0;
  for (std::sregex_iterator it(prose.begin(), prose.end(), target), end; it != end; ++it) {
    const auto at = static_cast<std::size_t>(it->position());
    const std::string found = it->str();
    out += prose.substr(from, at - from) + "]";
    out.append(static_cast<std::size_t>(std::count(found.begin(), found.end(), '\n')), '\n');
    from = at + found.size();
  }
  return out + prose.substr(from);
}

bool starts_in_lower_case(const std::string& word) {
  return std::islower(static_cast<unsigned char>(word.front())) != 0;
}

std::vector<std::string> cells_of(const std::string& row) {
  static const std::regex blanks("^ +| +$");
  std::vector<std::string> cells;
  std::istringstream parts(row.substr(1));
  for (std::string part; std::getline(parts, part, '|');)
    cells.push_back(std::regex_replace(part, blanks, ""));
  return cells;
}

// What is wrong with a row of docs/from-the-seeds.md; empty: nothing.
std::string fault_of_seed_row(const std::vector<std::string>& cells, const std::set<std::string>& tests) {
  static const std::regex line("[0-9]+(?:-[0-9]+)?(?:,[0-9]+)?");
  static const std::regex test("`([^`]*)`(?:<br>)?");
  if (cells.size() != 5) return "a row has five cells: seed, line, what it says, what eventq does, test";
  if (!std::regex_match(cells[1], line) || cells[2].empty() || cells[3].empty()) {
    return "a row has a line, such as 12, 12-14 or 12,20, and says what the seed says and what eventq does";
  }
  if (cells[3].find("differently") != std::string::npos && cells[3].find(". Reason: ") == std::string::npos) {
    return "a difference needs a reason: \"**differently:** … Reason: …\"";
  }
  if (cells[4].empty() || !std::regex_replace(cells[4], test, "").empty()) {
    return "the last cell names tests: `Suite.Name`<br>`Suite.Name`";
  }
  for (std::sregex_iterator it(cells[4].begin(), cells[4].end(), test), end; it != end; ++it) {
    if (!tests.contains((*it)[1])) return "there is no test " + it->str(1);
  }
  return "";
}

bool has_letter_or_digit(const std::string& word) {
  return std::any_of(word.begin(), word.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80; });
}

}  // namespace

Faults check_sentences(const File& page) {
  Faults faults;
  for (const std::vector<Word>& words : paragraphs_of(without_targets(prose_of(page.text)))) {
    std::size_t count = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (has_letter_or_digit(words[i].text)) ++count;
      // "e.g. this" goes on.
      const bool last =
          i + 1 == words.size() || (ends_sentence(words[i].text) && !starts_in_lower_case(words[i + 1].text));
      if (!last) continue;
      if (count > kSentenceWordsMax) {
        std::string opening;
        for (std::size_t word = start; word < start + 6; ++word) opening += words[word].text + " ";
        faults.push_back({page.path, words[start].line,
                          "a sentence of " + std::to_string(count) + " words, at most 30: " + opening});
      }
      count = 0;
      start = i + 1;
    }
  }
  return faults;
}

Faults check_folder_list(const File& page, const std::set<std::string>& folders) {
  static const std::regex span("`([^`]+)`");
  const bool in_section = page.path == "docs/architecture.md";
  const std::string prefix = in_section ? "" : "src/";
  std::map<std::string, std::size_t> named;
  std::string section;
  each_line(page.text, [&](std::size_t number, const std::string& line) {
    if (line.starts_with("## ")) section = line;
    if (!line.starts_with("| `") || (in_section && section != "## Folders")) return;
    const std::string cell = line.substr(1, line.find('|', 1) - 1);
    for (std::sregex_iterator it(cell.begin(), cell.end(), span), end; it != end; ++it) {
      std::string name = (*it)[1];
      if (!name.starts_with(prefix)) continue;
      name.erase(0, prefix.size());
      named.emplace(name.substr(0, name.find('/')), number);
    }
  });
  Faults faults;
  for (const auto& [name, line] : named) {
    if (!folders.contains(name)) faults.push_back({page.path, line, "there is no folder src/" + name});
  }
  for (const std::string& folder : folders) {
    if (!named.contains(folder))
      faults.push_back({page.path, 1, "src/" + folder + " is not in the table of folders"});
  }
  return faults;
}

std::set<std::string> tests_in(const std::vector<File>& files) {
  static const std::regex in_source(R"((?:^|\n)TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  static const std::regex in_cmake(R"((?:add_test\(NAME |eventq_with_server\()(\w+)\.(\w+))");
  std::set<std::string> names;
  for (const File& file : files) {
    const std::regex& defines = file.path.ends_with("CMakeLists.txt") ? in_cmake : in_source;
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), defines), end; it != end; ++it) {
      names.insert(it->str(1) + "." + it->str(2));
    }
  }
  return names;
}

Faults check_seed_rows(const File& page, const std::set<std::string>& tests, std::size_t count) {
  static const std::regex row(R"(\| 00[0-4] \|.*)");
  Faults faults;
  std::size_t rows = 0;
  each_line(page.text, [&](std::size_t number, const std::string& line) {
    if (!line.starts_with("| 0")) return;
    ++rows;
    const std::string fault = fault_of_seed_row(cells_of(line), tests);
    if (!std::regex_match(line, row)) faults.push_back({page.path, number, "a row begins with 000 to 004"});
    if (!fault.empty()) faults.push_back({page.path, number, fault});
  });
  if (rows != count) {
    faults.push_back({page.path, 1, std::to_string(rows) + " rows, should be " + std::to_string(count)});
  }
  return faults;
}

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
