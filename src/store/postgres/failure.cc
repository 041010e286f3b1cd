// failure.cc: see failure.h.
#include "store/postgres/failure.h"

namespace eventq::postgres {
namespace {

constexpr std::string_view kReadOnly = "25006";

ErrorCode code_of(std::string_view state) {
  if (state == "53100") return ErrorCode::no_space;
  if (state == "22021") return ErrorCode::invalid_argument;
  if (state == "XX001" || state == "XX002") return ErrorCode::corrupt;
  // 08 connection, 40 deadlock and serialization, 53 resources, 55P03 lock_timeout, 57 cancelled or shutting
  // down, 58 the system under it, 25P03 and 25006 sessions that were ended or turned read-only.
  for (const std::string_view start : {"08", "40", "53", "55P03", "57", "58", "25P03", "25006"}) {
    if (state.starts_with(start)) return ErrorCode::unavailable;
  }
  return ErrorCode::internal;
}

// One line, without the full stop or the line feed that PostgreSQL may have put.
std::string one_line(std::string_view words) {
  std::string line;
  for (const char c : words) {
    const bool blank = c == '\n' || c == '\t' || c == ' ';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  return line;
}

}  // namespace

Error failure(std::string_view state, std::string_view words) {
  const ErrorCode code = code_of(state);
  if (code == ErrorCode::invalid_argument) {
    return Error{code, "PostgreSQL keeps no text with the character U+0000; leave it out."};
  }
  if (code == ErrorCode::no_space) {
    return Error{code, "The database's disk is full: " + one_line(words) + "."};
  }
  return Error{code, "The database says: " + one_line(words) + " (" + std::string(state) + ")."};
}

Error away(std::string_view words) {
  return Error{ErrorCode::unavailable, "The database is away: " + one_line(words) + "."};
}

bool spoils_connection(std::string_view state) { return state == kReadOnly; }

}  // namespace eventq::postgres
