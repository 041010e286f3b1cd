// backup_command.cc: `eventq backup`: a checked copy of a store's file.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>

#include "cli/command_table.h"
#include "cli/interrupt.h"
#include "cli/invocation.h"
#include "cli/progress.h"
#include "cli/store_path.h"
#include "store/sqlite/audit.h"
#include "store/sqlite/backup.h"

namespace eventq::cli {
namespace {

// The first thing wrong with the copy, empty when there is none.
Result<std::string> check_copy(const std::string& path, const Interrupt& interrupt) {
  std::string first;
  const auto counts =
      sqlite::audit(path, {.on_violation =
                               [&](const sqlite::Violation& violation) {
                                 if (first.empty())
                                   first = std::string(name_of(violation.proof)) + ": " + violation.text;
                               },
                           .on_progress = [&](std::int64_t, std::int64_t) { return !interrupt.asked(); }});
  if (!counts) return counts.error();
  return first;
}

// The name, too, is to survive a power cut.
bool sync_folder(const std::string& file) {
  const std::string parent = std::filesystem::path(file).parent_path().string();
  const int folder = open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  const bool synced = fsync(folder) == 0;
  close(folder);
  return synced;
}

ExitCode give_up(Invocation& invocation, const std::string& partial, const Interrupt& interrupt,
                 const std::string& message) {
  std::error_code none;
  std::filesystem::remove(partial, none);
  if (interrupt.asked()) return fail(invocation, "interrupted; there is no copy", ExitCode::interrupted);
  return fail(invocation, message);
}

ExitCode copy(Invocation& invocation, const std::string& from, const std::string& to) {
  const Interrupt interrupt;
  const std::string partial = to + ".partial";
  umask(077);  // payloads are the owner's alone
  {
    Progress progress(invocation.err, isatty(STDERR_FILENO) == 1, "Copying", std::nullopt);
    const auto copied = sqlite::back_up(from, partial, [&](std::int64_t done, std::int64_t all) {
      progress.show(done, "of " + grouped(all) + " pages");
      return !interrupt.asked();
    });
    if (!copied && copied.error().code == ErrorCode::conflict)
      return fail(invocation, copied.error().message);
    if (!copied) return give_up(invocation, partial, interrupt, copied.error().message);
  }
  const auto fault = check_copy(partial, interrupt);
  if (!fault) return give_up(invocation, partial, interrupt, fault.error().message);
  if (!fault->empty()) {
    return give_up(invocation, partial, interrupt,
                   "the copy does not hold together (" + *fault +
                       "), and was removed. Look at the store with `eventq verify sqlite:" + from + "`.");
  }
  if (renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
    return give_up(invocation, partial, interrupt,
                   "cannot name the copy " + to + ": " + std::strerror(errno) + ".");
  }
  if (!sync_folder(to)) return fail(invocation, "cannot sync the folder of " + to + "; the copy is there.");
  std::error_code none;
  invocation.err << "Copied " << from << " to " << to << " ("
                 << grouped(static_cast<std::int64_t>(std::filesystem::file_size(to, none)))
                 << " bytes, verified).\n"
                 << "To restore it: stop the server, remove " << from << ", " << from << "-wal and " << from
                 << "-shm, copy " << to << " to " << from << ", and start the server.\n";
  return ExitCode::done;
}

ExitCode run(Invocation& invocation) {
  const std::string to = invocation.arguments.text_or("DEST", "");
  const auto from = store_path(invocation.arguments.text_or("--store", "sqlite:eventq.db"));
  if (!from) return wrong_usage(invocation, from.error().message);
  std::error_code none;
  if (std::filesystem::exists(to, none)) {
    return fail(invocation, to + " exists already. Name another file, or remove it first.");
  }
  return copy(invocation, *from, to);
}

}  // namespace

CommandSpec backup_command() {
  return {
      .name = "backup",
      .summary = "Copy a store, also while a server runs on it",
      .details =
          "The copy is of one moment, is synced to disk and verified (see eventq verify) before it gets its "
          "name. "
          "The store is only read. A file that exists is never overwritten.",
      .positionals =
          {{.name = "DEST", .help = "The new file", .completes = Completes::file, .required = true}},
      .options = {{.name = "--store",
                   .value = "URL",
                   .help = "What to copy",
                   .fallback = "sqlite:eventq.db",
                   .completes = Completes::file}},
      .examples = {{"eventq backup /mnt/backup/eventq-2026-11-16.db", "Copy the store in this folder"}},
      .run = run,
      .talks = CommandSpec::Talks::to_nobody,
  };
}

}  // namespace eventq::cli
