// worker_commands.cc: `eventq worker ls`.
#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"

namespace eventq::cli {
namespace {

ExitCode list_workers(Invocation& run) {
  using Kind = CellKind;
  return print_list(run, "/workers", "workers",
                    {{"WORKER", "worker_id"},
                     {"QUEUE", "queue"},
                     {"TAGS", "tags"},
                     {"DONE", "completed", Kind::number},
                     {"FAILED", "failed", Kind::number},
                     {"LAST SEEN", "last_seen", Kind::time},
                     {"STALE", "stale_because"},
                     {"HOLDS", "holding"}});
}

}  // namespace

CommandSpec worker_ls_command() {
  return {.name = "worker ls",
          .summary = "List the workers",
          .details = "The server knows workers from their calls; a worker does not register.",
          .examples = {{"eventq worker ls", "List active and stale workers"}},
          .run = list_workers};
}

}  // namespace eventq::cli
