// move_command.cc: `eventq move`: moves a whole store from SQLite to PostgreSQL, or back.
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
  umask(077);  // payloads are readable by the owner only
  std::optional<ProgressBar> progress;
  const auto moved =
      move::move({.from = from, .to = to, .on_progress = [&](std::int64_t done, std::int64_t all) {
                    // The total is known only from the first report on.
                    if (!progress) {
                      progress.emplace(invocation.err, isatty(STDERR_FILENO) == 1, "Moving", all);
                    }
                    progress->show(done);
                    return !interrupt.requested();
                  }});
  // Ends the line of the bar before a message is printed.
  progress.reset();
  if (!moved && moved.error().code == ErrorCode::invalid_argument) {
    return wrong_usage(invocation, moved.error().message);
  }
  if (!moved) {
    return fail(invocation, moved.error().message,
                interrupt.requested() ? ExitCode::interrupted : ExitCode::failed);
  }
  invocation.err
      << (moved->resumed ? "Continued an earlier move.\n" : "") << "Moved " << grouped(moved->events)
      << " events (" << grouped(moved->rows) << " rows) to " << postgres::without_password(to)
      << ", and counted them there. " << postgres::without_password(from)
      << " is unchanged. Do not start a server with it again, or its events would be processed twice.\n";
  return ExitCode::done;
}

}  // namespace

CommandSpec move_command() {
  return {
      .name = "move",
      .summary = "Move a whole store from SQLite to PostgreSQL, or back",
      .details =
          "Copies everything: events with their ids, payloads, order and logs, queues with their "
          "settings, checkpoints, idempotency keys and leases. A worker that holds an event can "
          "therefore report it to the new server.\n\n"
          "Stop the servers first. The command locks both stores while it runs. It refuses a store "
          "that is in use, and a target that is not empty. It creates the schema if it does not "
          "exist.\n\n"
          "The move can be interrupted at any point, also by a power cut: the same command "
          "continues it, unless a server used the old store in between. At the end it counts the "
          "rows of every table on both sides. It only reads the old store.\n\n"
          "A store is moved to and from one database, not to shards.\n\n"
          "Every user of this machine can read a password in an argument (ps); use PGPASSWORD or "
          "~/.pgpass.",
      .positionals = {file_argument("FROM", "sqlite:FILE, or postgres://USER@HOST/DB"),
                      file_argument("TO", "A store of the other kind")},
      .examples = {{"eventq move sqlite:eventq.db postgres://eventq@db/eventq", "Move into PostgreSQL"}},
      .run = run_move,
      .server_use = ServerUse::none,
  };
}

}  // namespace eventq::cli
