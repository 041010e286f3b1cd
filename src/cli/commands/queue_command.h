// queue_command.h: what the files of `eventq queue` share.
#pragma once

#include <string>

#include "cli/framework/command.h"
#include "cli/framework/invocation.h"

namespace eventq::cli {

// "/queues/NAME", with the argument NAME percent-encoded.
[[nodiscard]] std::string queue_path(const Invocation& run);

// The positional NAME.
[[nodiscard]] Parameter queue_name();

CommandSpec queue_set_command();
CommandSpec queue_replay_command();

}  // namespace eventq::cli
