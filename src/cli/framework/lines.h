// lines.h: a file or a pipe, line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "eventq/error.h"

namespace eventq::cli {

class LineReader {
 public:
  // Reads from `descriptor`, which stays the caller's. A longer line than `longest` bytes is cut there.
  LineReader(int descriptor, std::size_t longest) : descriptor_(descriptor), longest_(longest) {}

  enum class LineStatus : std::uint8_t { line, too_long, end, interrupted };
  // The next line without its end, into `line`. The last one need not have an end. A signal interrupts it;
  // nothing is lost then.
  Result<LineStatus> next(std::string& line);

 private:
  const int descriptor_;
  const std::size_t longest_;
  std::string bytes_;
  std::size_t at_ = 0;     // where the next line begins in bytes_
  bool skipping_ = false;  // the rest of a line that was too long
  bool ended_ = false;
};

// How many lines a file has; the last one need not have an end. Errors: not_found.
Result<std::int64_t> count_lines(const std::string& path);

}  // namespace eventq::cli
