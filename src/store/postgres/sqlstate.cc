// sqlstate.cc: see sqlstate.h.
#include "store/postgres/sqlstate.h"

#include <algorithm>

namespace eventq::postgres {
namespace {

constexpr std::string_view kReadOnly = "25006";

ErrorCode code_of(std::string_view state) {
  // 53100 disk full, 22021 character that the encoding does not have, XX001 and XX002 corrupt table or index.
  if (state == "53100") return ErrorCode::no_space;
  if (state == "22021") return ErrorCode::invalid_argument;
  if (state == "XX001" || state == "XX002") return ErrorCode::corrupt;
  // 08 connection, 40 deadlock and serialization, 53 resources, 55P03 lock_timeout. 57 cancelled or shutting
  // down, 58 error of the system. 25P03 session ended while idle in a transaction, 25006 server became
  // read-only.
  for (const std::string_view start : {"08", "40", "53", "55P03", "57", "58", "25P03", "25006"}) {
    if (state.starts_with(start)) return ErrorCode::unavailable;
  }
  return ErrorCode::internal;
}

// Joins the lines of a message (libpq writes one for each host that it tried), without their final full
// stops. Lines that begin with a tab are libpq's guesses at the cause and are left out.
std::string one_line(std::string_view words) {
  std::string all;
  while (!words.empty()) {
    std::string_view line = words.substr(0, words.find('\n'));
    words.remove_prefix(std::min(line.size() + 1, words.size()));
    if (line.starts_with('\t')) continue;
    line = line.substr(0, line.find_last_not_of(" .") + 1);
    if (!all.empty() && !line.empty()) all += "; ";
    all += line;
  }
  return all;
}

// What the user can do about the error; empty if there is nothing in particular.
std::string_view advice(std::string_view state) {
  // lock_timeout; session.sql sets it to 5 s.
  if (state == "55P03") {
    return " Another transaction held a lock that this one needs for more than 5 s: an application left it "
           "open, or it belongs to another server. Try again.";
  }
  // A prepared statement exists already, or does not exist. A connection prepares each statement once, so
  // these occur when a pooler gives its transactions to several sessions.
  if (state == "42P05" || state == "26000") {
    return " A pooler between eventq and the database must keep one session for each connection "
           "(PgBouncer: pool_mode = session).";
  }
  return "";
}

}  // namespace

Error error_for_sqlstate(std::string_view state, std::string_view words) {
  const ErrorCode code = code_of(state);
  if (code == ErrorCode::invalid_argument) {
    return Error{code, "PostgreSQL cannot store the character U+0000 in a text. Remove it."};
  }
  if (code == ErrorCode::no_space) {
    return Error{code,
                 "The database's disk is full: " + one_line(words) + ". Free some space and try again."};
  }
  return Error{code, "The database reported an error: " + one_line(words) + " (" + std::string(state) + ")." +
                         std::string(advice(state))};
}

Error unavailable(std::string_view words) {
  return Error{ErrorCode::unavailable, "The database is unavailable: " + one_line(words) + "."};
}

Error cannot_connect(std::string_view url, std::string_view words) {
  // libpq's lines name the host and the cause, such as "Connection refused" or "password authentication
  // failed".
  const bool refused = words.find("Connection refused") != words.npos;
  return Error{ErrorCode::unavailable, "Cannot connect to " + std::string(url) + ": " + one_line(words) +
                                           "." + (refused ? " Is PostgreSQL running there?" : "")};
}

bool makes_connection_useless(std::string_view state) { return state == kReadOnly; }

}  // namespace eventq::postgres
