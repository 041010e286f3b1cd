// command_table.h: the list of all commands of `eventq`. Each command is implemented in commands/.
#pragma once

#include <span>

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
CommandSpec ls_command();
CommandSpec get_command();
CommandSpec logs_command();
CommandSpec why_command();
CommandSpec tail_command();
CommandSpec wait_command();
CommandSpec retry_command();
CommandSpec cancel_command();
CommandSpec reset_command();
CommandSpec queue_ls_command();
CommandSpec queue_show_command();
CommandSpec queue_pause_command();
CommandSpec queue_resume_command();
CommandSpec queue_drain_command();
CommandSpec queue_set_command();
CommandSpec queue_checkpoint_command();
CommandSpec queue_replay_command();
CommandSpec worker_ls_command();
CommandSpec notebook_add_command();
CommandSpec notebook_ls_command();
CommandSpec notebook_status_command();
CommandSpec notebook_commit_command();
CommandSpec notebook_rescan_command();
CommandSpec notebook_log_command();
CommandSpec top_command();
CommandSpec bench_command();
CommandSpec doctor_command();
CommandSpec verify_command();
CommandSpec backup_command();
CommandSpec move_command();
CommandSpec migrate_status_command();
CommandSpec migrate_up_command();
CommandSpec migrate_sql_command();
CommandSpec completion_command();
CommandSpec man_command();
CommandSpec help_command();
CommandSpec version_command();

}  // namespace eventq::cli
