// log.h: log lines of `key=value` pairs, one line per fact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "eventq/options.h"

namespace eventq {

// Builds "msg=listening address=127.0.0.1:8080". A value that is empty or has spaces, quotes, '=' or control
// characters is quoted and escaped, so that every value stays on its line and can be parsed.
// REQUIRES: keys are constants of letters and '_'.
class LogLine {
 public:
  explicit LogLine(std::string_view message) { add("msg", message); }

  LogLine& add(std::string_view key, std::string_view value);
  LogLine& add(std::string_view key, std::int64_t value);

  [[nodiscard]] const std::string& str() const { return line_; }

 private:
  std::string line_;
};

// Writes "2026-01-01T00:00:00.000Z info <line>" to standard error, for lines of at least this level.
//
// Threads: the logger may be called from any thread.
Logger stderr_logger(LogLevel least);

}  // namespace eventq
