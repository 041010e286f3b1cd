// backup_command.cc: `eventq backup`: makes a checked copy of a SQLite store.
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
#include <utility>

#include "base/descriptor.h"
#include "cli/framework/command_table.h"
#include "cli/framework/interrupt.h"
#include "cli/framework/invocation.h"
#include "cli/framework/store_path.h"
#include "cli/terminal/progress.h"
#include "tools/backup/backup.h"
#include "tools/verify/audit.h"

namespace eventq::cli {
namespace {

// The result of checking a copy.
struct CopyCheck {
  std::string unsound;   // the first error of SQLite's integrity check; empty: none
  std::string violated;  // the first guarantee of a store that it breaks; empty: none
  std::string note;      // what was not checked; empty: everything was
};

Result<CopyCheck> check_copy(const std::string& path, const Interrupt& interrupt) {
  const auto facts = sqlite::inspect(path);
  if (!facts) return facts.error();
  if (facts->moving) {
    return Error{
        ErrorCode::conflict,
        "the store holds part of a store that is being moved; run the same `eventq move` again first.",
        "store"};
  }
  CopyCheck checked;
  // audit() knows only the newest schema.
  if (facts->schema != facts->newest_schema) {
    auto unsound = sqlite::check_sound(path);
    if (!unsound) return unsound.error();
    checked.unsound = std::move(*unsound);
    checked.note = "The store has schema " + std::to_string(facts->schema) + ", this eventq verifies " +
                   std::to_string(facts->newest_schema) + ": only SQLite's integrity check was run.\n";
    return checked;
  }
  const auto counts = sqlite::audit(
      path, {.on_violation =
                 [&](const sqlite::Violation& violation) {
                   // A damaged file is removed; a violated guarantee is the store's own, and its copy is
                   // kept.
                   const bool sound = violation.check != sqlite::AuditCheck::sound;
                   std::string& first = sound ? checked.violated : checked.unsound;
                   if (first.empty()) first = std::string(name_of(violation.check)) + ": " + violation.text;
                 },
             .on_progress = [&](std::int64_t, std::int64_t) { return !interrupt.requested(); }});
  if (!counts) return counts.error();
  return checked;
}

std::string folder_of(const std::string& file) {
  const std::string parent = std::filesystem::path(file).parent_path().string();
  return parent.empty() ? "." : parent;
}

// Syncs the folder, because the file's name is stored there and must survive a power cut, too.
bool sync_folder(const std::string& file) {
  const Descriptor folder(open(folder_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder.open() && fsync(folder.number()) == 0;
}

ExitCode give_up(Invocation& invocation, const std::string& partial, const Interrupt& interrupt,
                 const std::string& message) {
  std::error_code none;
  for (const char* const beside : {"", "-wal", "-shm"}) std::filesystem::remove(partial + beside, none);
  if (interrupt.requested()) return fail(invocation, "interrupted; no copy was made", ExitCode::interrupted);
  return fail(invocation, message);
}

ExitCode back_up(Invocation& invocation, const std::string& from, const std::string& to) {
  const Interrupt interrupt;
  // The copy has this name until it is checked, so a file named `to` is always complete.
  const std::string partial = to + ".partial";
  umask(077);  // payloads are readable by the owner only
  {
    ProgressBar progress(invocation.err, isatty(STDERR_FILENO) == 1, "Copying", std::nullopt);
    const auto copied = sqlite::back_up(from, partial, [&](std::int64_t done, std::int64_t all) {
      progress.show(done, "of " + grouped(all) + " pages");
      return !interrupt.requested();
    });
    // conflict: `partial` existed before, perhaps from another backup, so it must not be removed.
    if (!copied && copied.error().code == ErrorCode::conflict)
      return fail(invocation, copied.error().message);
    if (!copied) return give_up(invocation, partial, interrupt, copied.error().message);
  }
  const auto checked = check_copy(partial, interrupt);
  if (!checked) return give_up(invocation, partial, interrupt, checked.error().message);
  if (!checked->unsound.empty()) {
    return give_up(invocation, partial, interrupt,
                   "SQLite finds the copy damaged (" + checked->unsound +
                       "), so it was removed. Check the store with `eventq verify sqlite:" + from + "`.");
  }
  // RENAME_NOREPLACE: a file that appeared during the copy is not overwritten.
  if (renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
    return give_up(invocation, partial, interrupt,
                   "cannot rename the copy to " + to + ": " + std::strerror(errno) + ".");
  }
  if (!sync_folder(to)) {
    return fail(invocation, "cannot sync the folder of " + to + ": " + std::strerror(errno) +
                                ". The copy is complete, but a power cut may remove its name. Run `sync`.");
  }
  // The copy is complete here; an unknown size is no failure.
  std::error_code none;
  const bool verified = checked->violated.empty() && checked->note.empty();
  invocation.err << "Copied " << from << " to " << to << " ("
                 << grouped(static_cast<std::int64_t>(std::filesystem::file_size(to, none))) << " bytes"
                 << (verified ? ", verified" : "") << ").\n"
                 << checked->note << "To restore it: stop the server, remove " << from << ", " << from
                 << "-wal and " << from << "-shm, copy " << to << " to " << from
                 << ", and start the server.\n";
  if (checked->violated.empty()) return ExitCode::done;
  return fail(invocation, "the copy equals the store, but the store breaks a guarantee (" +
                              checked->violated + "). List all violations with `eventq verify sqlite:" + to +
                              "`.");
}

ExitCode run_backup(Invocation& invocation) {
  const std::string to = invocation.arguments.text_or("DEST", "");
  const auto from =
      store_path(invocation.arguments.text_or("--store", "sqlite:eventq.db"),
                 "copy it with `pg_dump --format=custom --file=DEST URL`, also while a server uses it, "
                 "and restore it with pg_restore.");
  if (!from) return wrong_usage(invocation, from.error().message);
  std::error_code none;
  // Before the copy, which may take minutes. back_up() still does not overwrite a file that appears later.
  if (std::filesystem::exists(to, none)) {
    return fail(invocation, to + " exists already. Name another file, or remove it first.");
  }
  // Checked here, because SQLite's message would name the partial file.
  if (access(folder_of(to).c_str(), W_OK | X_OK) != 0) {
    return fail(invocation,
                "Cannot write " + to + ": the folder " + folder_of(to) + ": " + std::strerror(errno) + ".");
  }
  return back_up(invocation, *from, to);
}

}  // namespace

CommandSpec backup_command() {
  return {
      .name = "backup",
      .summary = "Copy a store, also while a server uses it",
      .details =
          "The copy shows one moment of the store. It is synced to disk and checked before it gets "
          "its name. The command only reads the store, and never overwrites an existing file.\n\n"
          "The command removes a copy that SQLite finds damaged. It keeps a copy in which `eventq "
          "verify` finds a violation, prints a warning and exits with 1. A store with another "
          "schema, such as before an upgrade, gets only SQLite's integrity check.",
      .positionals = {file_argument("DEST", "The new file")},
      .options = {{.name = "--store",
                   .value = "URL",
                   .help = "The store to copy",
                   .fallback = "sqlite:eventq.db",
                   .completes = CompletionKind::file}},
      .examples = {{"eventq backup /mnt/backup/eventq-2026-11-16.db", "Copy the store in this folder"}},
      .run = run_backup,
      .server_use = ServerUse::none,
  };
}

}  // namespace eventq::cli
