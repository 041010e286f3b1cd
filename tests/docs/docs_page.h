// docs_page.h: the code blocks of a page of docs/, and how a test runs each.
//
// Every code block is fenced and names its language. The blocks of one page are one session in an empty
// folder, from top to bottom:
//
//   ```console   A line "$ COMMAND" runs in a shell. The lines behind it that are indented by four spaces
//                belong to the command. The other lines, up to the next command, are its output. Without
//                any, the test only checks the exit code.
//   ```json      The answer to the command before. A line before the block that begins with three digits
//                names the HTTP status.
//   ```toml      A configuration file that the server must accept.
//   ```cpp       Statements of a function, which must compile without warnings. cpp_prelude.h declares the
//                functions that a page leaves to its reader.
//
// A comment on the line before a block changes that:
//
//   <!-- not run: REASON -->       The block is skipped.
//   <!-- stays running -->         The one command of the block runs until the page ends.
//   <!-- printed by: COMMAND -->   Lines printed by a command that stays running.
//   <!-- file: NAME -->            The block is the content of this file.
//   <!-- exits with: N -->         The commands of the block exit with N instead of 0.
//   <!-- declarations -->          The C++ of the block belongs outside of a function.
//
// A line of its own runs a command that the page does not show:
//
//   <!-- also run: COMMAND -->
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eventq {

struct DocsBlock {
  std::size_t line = 0;  // of its opening fence, counted from 1
  std::string language;  // "console"; empty for a block that names none
  std::string note;      // the comment in front, without its brackets
  std::string status;    // "201" where the paragraph in front begins with it
  std::vector<std::string> lines;

  // What follows `key` in the note, or nothing.
  [[nodiscard]] std::string noted(std::string_view key) const;
};

struct DocsPage {
  std::vector<DocsBlock> blocks;
  std::vector<std::string> problems;  // such as an indented code block, for people
};

DocsPage read_docs_page(const std::string& path);

// One command, and the output that the page shows for it.
struct DocsCommand {
  std::string text;
  std::vector<std::string> output;
};

// REQUIRES: `block` is a console block.
std::vector<DocsCommand> commands_of(const DocsBlock& block);

}  // namespace eventq
