// log.cc: see log.h. The only file that uses spdlog.
#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

#include "base/utf8.h"

namespace eventq {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

bool needs_quotes(std::string_view value) {
  return value.empty() || value.find_first_of(" \"\\=") != std::string_view::npos || has_control(value) ||
         !valid_utf8(value);
}

// Control characters become \xNN; in a text that is not valid UTF-8, so does every byte that is not ASCII.
void append_quoted(std::string& out, std::string_view value) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const bool is_utf8 = valid_utf8(value);
  out += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !is_utf8)) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 0xF];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

LogLine& LogLine::add(std::string_view key, std::string_view value) {
  if (!line_.empty()) line_ += ' ';
  line_ += key;
  line_ += '=';
  if (needs_quotes(value)) {
    append_quoted(line_, value);
  } else {
    line_ += value;
  }
  return *this;
}

LogLine& LogLine::add(std::string_view key, std::int64_t value) {
  return add(key, std::string_view(std::to_string(value)));
}

Logger stderr_logger(LogLevel least) {
  auto logger = std::make_shared<spdlog::logger>("eventq", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  logger->set_level(to_spdlog(least));
  return [logger](LogLevel level, std::string_view line) {
    logger->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
  };
}

}  // namespace eventq
