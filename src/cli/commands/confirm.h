// confirm.h: the question before a command changes many events.
#pragma once

#include <cstddef>
#include <string>

#include "cli/framework/invocation.h"

namespace eventq::cli {

// Asks whether to do `what`, such as "retry 12 events in queue mail". Returns done after "y", or with --yes.
// Any other code ends the command: the reason was printed, and nothing may be changed. `events` is the number
// that the advice to give --expect names.
[[nodiscard]] ExitCode confirm(Invocation& run, std::string what, std::size_t events);

}  // namespace eventq::cli
