// tidy_text.cc: parts of C++ files and Markdown pages.
#include "tidy_text.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

namespace eventq::tidy {
namespace {

bool is_digit_separator(std::string_view text, std::size_t quote) {
  std::size_t start = quote;
  while (start > 0 &&
         (std::isalnum(static_cast<unsigned char>(text[start - 1])) != 0 || text[start - 1] == '\'')) {
    --start;
  }
  return start < quote && std::isdigit(static_cast<unsigned char>(text[start])) != 0;
}

// Where the literal with the opening quote at `quote` ends, behind its closing one.
std::size_t end_of_literal(std::string_view text, std::size_t quote) {
  if (text[quote] == '"' && quote > 0 && text[quote - 1] == 'R') {
    const std::size_t open = text.find('(', quote);
    const std::string close = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
    const std::size_t found = text.find(close, open);
    return found == text.npos ? text.size() : found + close.size();
  }
  std::size_t at = quote + 1;
  while (at < text.size() && text[at] != text[quote]) at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

void blank(std::string& text, std::size_t from, std::size_t to, char with) {
  for (std::size_t at = from; at < to; ++at) {
    if (text[at] != '\n') text[at] = with;
  }
}

// The length of the run of backticks at `at`.
std::size_t backticks(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_first_not_of('`', at);
  return (end == text.npos ? text.size() : end) - at;
}

// Replaces `spans`, which end in the paragraph in which they begin.
void blank_spans(std::string& text) {
  for (std::size_t at = text.find('`'); at != text.npos; at = text.find('`', at)) {
    const std::size_t ticks = backticks(text, at);
    const std::size_t paragraph = std::min(text.find("\n\n", at), text.size());
    std::size_t close = text.find('`', at + ticks);
    while (close < paragraph && backticks(text, close) != ticks) {
      close = text.find('`', close + backticks(text, close));
    }
    if (close >= paragraph) {
      at += ticks;
      continue;
    }
    blank(text, at, close + ticks, 'X');
    at = close + ticks;
  }
}

}  // namespace

bool is_in(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

bool is_cpp(const File& file) { return file.path.ends_with(".h") || file.path.ends_with(".cc"); }

bool is_page(const File& file) { return file.path.ends_with(".md"); }

bool is_test_or_bench(const File& file) {
  return is_in(file.path, "tests") || is_in(file.path, "bench") || file.path.ends_with("_test.cc");
}

void each_line(const std::string& text, const std::function<void(std::size_t, const std::string&)>& visit) {
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) visit(number, line);
}

Faults find(const File& file, const std::string& text, const std::string& pattern,
            const std::string& advice) {
  Faults faults;
  const std::regex regex(pattern);
  each_line(text, [&](std::size_t number, const std::string& line) {
    std::smatch match;
    if (std::regex_search(line, match, regex)) {
      faults.push_back({file.path, number, "\"" + match.str() + "\": " + advice});
    }
  });
  return faults;
}

std::string only(const std::string& text, Part kept) {
  std::string out = text;
  const auto take = [&](std::size_t from, std::size_t to, Part part) {
    if (part == kept) return;
    std::replace_if(
        out.begin() + static_cast<std::ptrdiff_t>(from), out.begin() + static_cast<std::ptrdiff_t>(to),
        [](char c) { return c != '\n'; }, ' ');
  };
  const std::string_view view = text;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    Part part = Part::code;
    if (view.substr(at).starts_with("//")) {
      end = std::min(view.find('\n', at), view.size());
      part = Part::comment;
    } else if (view.substr(at).starts_with("/*")) {
      end = std::min(view.find("*/", at + 2), view.size() - 2) + 2;
      part = Part::comment;
    } else if (view[at] == '"' || (view[at] == '\'' && !is_digit_separator(view, at))) {
      end = end_of_literal(view, at);
      part = Part::literal;
    }
    take(at, end, part);
    at = end;
  }
  return out;
}

std::string prose_of(const std::string& text) {
  std::string out = text;
  bool in_fence = false;
  bool after_blank = true;
  std::size_t start = 0;
  each_line(text, [&](std::size_t, const std::string& line) {
    const std::size_t first = line.find_first_not_of(' ');
    const bool is_blank = first == line.npos;
    const bool fence = !is_blank && line.compare(first, 3, "```") == 0;
    // A block that begins after an empty line, four columns in; a list's text is less deep.
    const bool indented = !is_blank && first >= 4 && after_blank;
    if (fence || in_fence || indented) blank(out, start, start + line.size(), ' ');
    if (fence) in_fence = !in_fence;
    after_blank = is_blank || indented;
    start += line.size() + 1;
  });
  blank_spans(out);
  return out;
}

}  // namespace eventq::tidy
