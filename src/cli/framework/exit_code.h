// exit_code.h: with which code the program ends. Scripts rely on these numbers.
#pragma once

#include <cstdint>

namespace eventq::cli {

enum class ExitCode : std::uint8_t {
  done = 0,          // also an empty list
  failed = 1,        // the server said no, some of several failed, or a list is not whole
  usage = 2,         // the command line is wrong
  timed_out = 3,     // a wait ran out, or a prompt was answered with no
  forbidden = 4,     // the server lets us not do it: 401, 403
  event_failed = 5,  // the awaited event ended without success
  moved = 6,         // --expect: the count is another
  unreachable = 7,   // no server there
  pending = 8,       // wait --no-block: it has not ended
  interrupted = 130,
};

}  // namespace eventq::cli
