// move_command.cc: `eventq move`: a whole store from SQLite to PostgreSQL, or back.
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <ostream>
#include <string>

#include "cli/framework/command_table.h"
#include "cli/framework/interrupt.h"
#include "cli/framework/invocation.h"
#include "cli/terminal/progress.h"
#include "store/postgres/connection.h"
#include "tools/move/move.h"

namespace eventq::cli {
namespace {

ExitCode run_move(Invocation& invocation) {
  const std::string from = invocation.arguments.text_or("FROM", "");
  const std::string to = invocation.arguments.text_or("TO", "");
  const Interrupt interrupt;
  umask(077);  // payloads are the owner's alone
  std::optional<ProgressBar> progress;
  const auto moved =
      move::move({.from = from, .to = to, .on_progress = [&](std::int64_t done, std::int64_t all) {
                    if (!progress) {
                      progress.emplace(invocation.err, isatty(STDERR_FILENO) == 1, "Moving", all);
                    }
                    progress->show(done);
                    return !interrupt.requested();
                  }});
  progress.reset();
  if (!moved && moved.error().code == ErrorCode::invalid_argument) {
    return wrong_usage(invocation, moved.error().message);
  }
  if (!moved) {
    return fail(invocation, moved.error().message,
                interrupt.requested() ? ExitCode::interrupted : ExitCode::failed);
  }
  invocation.err << (moved->resumed ? "Went on with a move that was begun before.\n" : "") << "Moved "
                 << grouped(moved->events) << " events (" << grouped(moved->rows) << " rows) to "
                 << postgres::without_password(to) << ", and counted them there. "
                 << postgres::without_password(from)
                 << " is as it was: do not serve it any more, or what was done would be done twice.\n";
  return ExitCode::done;
}

}  // namespace

CommandSpec move_command() {
  return {
      .name = "move",
      .summary = "Move a whole store from SQLite to PostgreSQL, or back",
      .details =
          "Copies everything: events with their ids, payloads, order and logs, queues with their settings, "
          "checkpoints, idempotency keys, and the leases of what is in work: a worker that holds an event "
          "reports it to the new server as if nothing had happened.\n\n"
          "Stop the servers first. While it lasts both stores are locked; one that is in use is refused, and "
          "so "
          "is a target in which there is anything. The schema is made if it is not there.\n\n"
          "It can be broken off at any point, also by a power cut: the same command goes on where it was, as "
          "long as the old store was not served in between. At the end the rows of every table are counted "
          "on "
          "both sides. The old store is only read.\n\n"
          "A store is moved to and from one database, not to shards.\n\n"
          "A password in an argument can be read by everybody on this machine (ps); use PGPASSWORD or "
          "~/.pgpass.",
      .positionals =
          {{.name = "FROM",
            .help = "sqlite:FILE, or postgres://USER@HOST/DB",
            .completes = CompletionKind::file,
            .required = true},
           {.name = "TO", .help = "The other kind", .completes = CompletionKind::file, .required = true}},
      .options = {},
      .examples = {{"eventq move sqlite:eventq.db postgres://eventq@db/eventq", "Move into PostgreSQL"}},
      .run = run_move,
      .server_use = ServerUse::none,
  };
}

}  // namespace eventq::cli
