// command_table.cc: see command_table.h.
#include "cli/framework/command_table.h"

namespace eventq::cli {
namespace {

std::vector<CommandSpec> make_commands() {
  std::vector<CommandSpec> all;
  const auto add = [&](const std::vector<CommandSpec>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add({dev_command(), serve_command(), publish_command(), import_command(), export_command(),
       work_command()});
  add(show_commands());
  add({tail_command(), wait_command()});
  add(change_commands());
  add(failure_commands());
  add(queue_commands());
  add(worker_commands());
  add(notebook_commands());
  add({top_command(), bench_command(), doctor_command(), verify_command(), backup_command(), move_command()});
  add(migrate_commands());
  add(help_commands());
  return all;
}

}  // namespace

std::span<const CommandSpec> all_commands() {
  static const std::vector<CommandSpec> commands = make_commands();
  return commands;
}

}  // namespace eventq::cli
