// command_table.cc: see command_table.h.
#include "cli/framework/command_table.h"

#include <vector>

namespace eventq::cli {

std::span<const CommandSpec> all_commands() {
  static const std::vector<CommandSpec> commands = {
      dev_command(),
      serve_command(),
      publish_command(),
      import_command(),
      export_command(),
      work_command(),
      ls_command(),
      get_command(),
      logs_command(),
      why_command(),
      tail_command(),
      wait_command(),
      retry_command(),
      cancel_command(),
      reset_command(),
      queue_ls_command(),
      queue_show_command(),
      queue_pause_command(),
      queue_resume_command(),
      queue_drain_command(),
      queue_set_command(),
      queue_checkpoint_command(),
      queue_replay_command(),
      worker_ls_command(),
      notebook_add_command(),
      notebook_ls_command(),
      notebook_status_command(),
      notebook_commit_command(),
      notebook_rescan_command(),
      notebook_log_command(),
      top_command(),
      bench_command(),
      doctor_command(),
      verify_command(),
      backup_command(),
      move_command(),
      migrate_status_command(),
      migrate_up_command(),
      migrate_sql_command(),
      completion_command(),
      man_command(),
      help_command(),
      version_command(),
  };
  return commands;
}

}  // namespace eventq::cli
