// shown_output.h: compares the output that a page shows with the output that a command printed.
//
// White space counts once, and outside of the strings of JSON not at all. Values that differ from run to run
// match by their form:
//
//   2026-11-15T22:45:17.291Z   any time in this format
//   a UUID, or a git hash      any other, but the same one on the whole page, also inside of commands
//   127.0.0.1:8080             any port
//   …                          any text
//
// Everything else, such as the number of an event or a file, is compared as it is.
// Threads: belongs to one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace eventq {

class ShownOutput {
 public:
  // Empty when `printed` is what the lines show, otherwise both texts in the form in which they were
  // compared.
  std::string difference(const std::vector<std::string>& shown, const std::string& printed);

  // A command of the page, with the ids of this run instead of the ids that the page shows.
  [[nodiscard]] std::string with_own_ids(const std::string& command) const;

 private:
  std::map<std::string, std::string> ids_;  // as shown, as printed
};

}  // namespace eventq
