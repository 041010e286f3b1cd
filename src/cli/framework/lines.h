// lines.h: reads a file or a pipe line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "eventq/error.h"

namespace eventq::cli {

class LineReader {
 public:
  // Reads from `descriptor`, which the caller closes. A line longer than `longest` bytes is cut.
  LineReader(int descriptor, std::size_t longest) : descriptor_(descriptor), longest_(longest) {}

  enum class LineStatus : std::uint8_t { line, too_long, end, interrupted };
  // Stores the next line in `line`, without its line end. The last line may lack one. After `interrupted`
  // (a signal arrived) the caller may call next() again, and no byte is lost.
  Result<LineStatus> next(std::string& line);

 private:
  const int descriptor_;
  const std::size_t longest_;
  std::string bytes_;
  std::size_t at_ = 0;     // where the next line begins in bytes_
  bool skipping_ = false;  // discarding the rest of a line that was too long
  bool ended_ = false;
};

// The number of lines in a file. The last line may lack its line end. Errors: not_found.
Result<std::int64_t> count_lines(const std::string& path);

}  // namespace eventq::cli
