// command_table.h: the list of all commands of `eventq`. Each command is implemented in commands/.
//
// To add a command: write commands/NAME_command.cc and name it in CMakeLists.txt, declare its function below,
// and put it into the table in command_table.cc.
#pragma once

#include <span>
#include <vector>

#include "cli/framework/command.h"

namespace eventq::cli {

// In the order in which --help lists them.
std::span<const CommandSpec> all_commands();

// commands/*.cc
CommandSpec dev_command();
CommandSpec serve_command();
CommandSpec publish_command();
CommandSpec import_command();
CommandSpec export_command();
CommandSpec work_command();
std::vector<CommandSpec> show_commands();  // ls, get, logs, why
CommandSpec tail_command();
CommandSpec wait_command();
std::vector<CommandSpec> change_commands();   // retry, cancel
std::vector<CommandSpec> failure_commands();  // failures ls, show, retry
std::vector<CommandSpec> queue_commands();
std::vector<CommandSpec> worker_commands();
std::vector<CommandSpec> notebook_commands();
CommandSpec top_command();
CommandSpec bench_command();
CommandSpec doctor_command();
CommandSpec verify_command();
CommandSpec backup_command();
CommandSpec move_command();
std::vector<CommandSpec> migrate_commands();
std::vector<CommandSpec> help_commands();  // completion, man, help, version

}  // namespace eventq::cli
