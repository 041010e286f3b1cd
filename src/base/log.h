// log.h: one line per fact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "eventq/options.h"

namespace eventq {

// Builds "msg=listening address=127.0.0.1:8080". A value that could be misread
// (empty, with spaces, quotes, '=' or control characters) is quoted and escaped, so that a
// line stays one line whatever it tells about. Keys are constants of ours: letters and '_'.
class LogLine {
 public:
  explicit LogLine(std::string_view message) { add("msg", message); }

  LogLine& add(std::string_view key, std::string_view value);
  LogLine& add(std::string_view key, std::int64_t value);

  [[nodiscard]] const std::string& str() const { return line_; }

 private:
  std::string line_;
};

// Writes "2026-01-01T00:00:00.000Z info <line>" to standard error, for facts of at
// least this level. May be called from any thread.
Logger stderr_logger(LogLevel least);

}  // namespace eventq
