// exit_code.h: the exit codes of the program. Scripts rely on these numbers, so they never change.
#pragma once

#include <cstdint>

namespace eventq::cli {

enum class ExitCode : std::uint8_t {
  done = 0,          // also an empty list
  failed = 1,        // a request was refused, some of several failed, or a list is incomplete
  usage = 2,         // the command line is wrong
  timed_out = 3,     // a wait timed out, or a prompt was answered with no
  forbidden = 4,     // the server answered 401 or 403
  event_failed = 5,  // the awaited event ended without success
  moved = 6,         // --expect: the filter matches another number of events
  unreachable = 7,   // no server answered
  pending = 8,       // wait --no-block: the event has not ended
  interrupted = 130,
};

}  // namespace eventq::cli
