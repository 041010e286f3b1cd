// lines.cc: see lines.h.
#include "cli/framework/lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/descriptor.h"

namespace eventq::cli {
namespace {

constexpr std::size_t kChunk = 256 * 1024;

}  // namespace

Result<LineReader::LineStatus> LineReader::next(std::string& line) {
  for (;;) {
    const std::size_t end = bytes_.find('\n', at_);
    const bool whole = end != std::string::npos;
    if (whole || (ended_ && at_ < bytes_.size())) {
      line.assign(bytes_, at_, (whole ? end : bytes_.size()) - at_);
      at_ = whole ? end + 1 : bytes_.size();
      // This was only the rest of a line that is already reported as too long.
      if (std::exchange(skipping_, false)) continue;
      if (line.ends_with('\r')) line.pop_back();
      if (line.size() <= longest_) return LineStatus::line;
      line.resize(longest_);
      return LineStatus::too_long;
    }
    if (ended_) return LineStatus::end;
    if (bytes_.size() - at_ > longest_ + 1) {  // +1: the last byte may be a '\r', which does not count
      const bool first = !std::exchange(skipping_, true);
      if (first) line.assign(bytes_, at_, longest_);
      at_ = bytes_.size();
      if (first) return LineStatus::too_long;
    }
    // All complete lines were returned, so what remains is less than one line.
    bytes_.erase(0, at_);
    at_ = 0;
    const std::size_t size = bytes_.size();
    bytes_.resize(size + kChunk);
    const ssize_t count = read(descriptor_, bytes_.data() + size, kChunk);
    bytes_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno == EINTR) return LineStatus::interrupted;
    if (count < 0)
      return Error{ErrorCode::unavailable, std::string("Cannot read: ") + std::strerror(errno) + ".", ""};
    ended_ = count == 0;
  }
}

Result<std::int64_t> count_lines(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open())
    return Error{ErrorCode::not_found, "Cannot open " + path + ": " + std::strerror(errno) + ".", ""};
  std::vector<char> bytes(kChunk);
  std::int64_t lines = 0;
  char last = '\n';
  for (;;) {
    const ssize_t count = read(file.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    lines += std::count(bytes.begin(), bytes.begin() + count, '\n');
    last = bytes[static_cast<std::size_t>(count) - 1];
  }
  return lines + (last == '\n' ? 0 : 1);
}

}  // namespace eventq::cli
