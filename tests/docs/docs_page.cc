// docs_page.cc: see docs_page.h.
#include "docs/docs_page.h"

#include <cctype>
#include <fstream>

namespace eventq {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kIndent = "    ";

bool begins_with_status(const std::string& line) {
  const auto is_digit = [&](std::size_t at) {
    return std::isdigit(static_cast<unsigned char>(line[at])) != 0;
  };
  return line.size() > 3 && is_digit(0) && is_digit(1) && is_digit(2) && !is_digit(3);
}

// The text between "<!-- " and " -->"; nothing for a line that is no such comment.
std::string comment_in(const std::string& line) {
  constexpr std::string_view open = "<!-- ";
  constexpr std::string_view close = " -->";
  if (!line.starts_with(open) || !line.ends_with(close)) return "";
  return line.substr(open.size(), line.size() - open.size() - close.size());
}

class Reader {
 public:
  void take(const std::string& line) {
    ++number_;
    if (inside_) {
      take_inside(line);
    } else if (line.starts_with(kFence)) {
      open(line);
    } else {
      take_prose(line);
    }
    is_after_blank_ = line.empty();
  }

  DocsPage end() {
    if (inside_) page_.problems.emplace_back("The last code block has no end.");
    return std::move(page_);
  }

 private:
  void take_inside(const std::string& line) {
    if (line == kFence) {
      inside_ = false;
      note_.clear();
      status_.clear();
    } else {
      page_.blocks.back().lines.push_back(line);
    }
  }

  void open(const std::string& line) {
    inside_ = true;
    page_.blocks.push_back({.line = number_,
                            .language = line.substr(kFence.size()),
                            .note = note_,
                            .status = status_,
                            .lines = {}});
  }

  void take_prose(const std::string& line) {
    constexpr std::string_view also = "also run: ";
    note_ = comment_in(line);
    if (note_.starts_with(also)) {
      page_.blocks.push_back({.line = number_,
                              .language = "console",
                              .note = "",
                              .status = "",
                              .lines = {"$ " + note_.substr(also.size())}});
      note_.clear();
    }
    if (begins_with_status(line)) status_ = line.substr(0, 3);
    if (line.starts_with("#")) status_.clear();
    if (is_after_blank_ && line.starts_with(kIndent)) {
      page_.problems.push_back("Line " + std::to_string(number_) +
                               " is an indented code block; use a fence that names a language.");
    }
  }

  DocsPage page_;
  std::size_t number_ = 0;
  bool inside_ = false;
  bool is_after_blank_ = false;
  std::string note_;
  std::string status_;
};

}  // namespace

std::string DocsBlock::noted(std::string_view key) const {
  return note.starts_with(key) ? note.substr(key.size()) : "";
}

DocsPage read_docs_page(const std::string& path) {
  std::ifstream file(path);
  Reader reader;
  for (std::string line; std::getline(file, line);) reader.take(line);
  return reader.end();
}

std::vector<DocsCommand> commands_of(const DocsBlock& block) {
  std::vector<DocsCommand> commands;
  for (const std::string& line : block.lines) {
    if (line.starts_with("$ ")) {
      commands.push_back({line.substr(2), {}});
    } else if (!commands.empty() && commands.back().output.empty() && line.starts_with(kIndent)) {
      commands.back().text += "\n" + line;
    } else if (!commands.empty()) {
      commands.back().output.push_back(line);
    }
  }
  return commands;
}

}  // namespace eventq
