// backup.cc: see backup.h.
#include "tools/backup/backup.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "generated/sqlite_migrations.h"
#include "generated/sqlite_sql.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/read_only_open.h"

namespace eventq::sqlite {
namespace {

constexpr int kPagesAtOnce = 4096;  // 16 MiB between two calls of on_progress

struct FinishBackup {
  void operator()(sqlite3_backup* copy) const { sqlite3_backup_finish(copy); }
};

// Opens the file of a store without writing to it. A file of another program is refused.
Result<SqliteConnection> open_source(const std::string& path) {
  auto connection = open_read_only(path);
  if (!connection) return connection;
  if (auto ours = check_owner(*connection); !ours) return ours.error();
  return connection;
}

std::int64_t size_of(const std::string& file) {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(file, none);
  return none ? 0 : static_cast<std::int64_t>(bytes);
}

// Returns the bytes of the source. Holds one read transaction for all steps, because SQLite restarts a copy
// when the source changes between two steps.
Result<std::int64_t> copy_pages(SqliteConnection& source, SqliteConnection& target,
                                const std::function<bool(std::int64_t, std::int64_t)>& on_progress) {
  if (auto done = source.run(sql::begin_read); !done) return done.error();
  auto bytes = read_number(source, sql::read_size);
  if (!bytes) return bytes;
  const std::unique_ptr<sqlite3_backup, FinishBackup> copy(
      sqlite3_backup_init(target.handle(), "main", source.handle(), "main"));
  if (copy == nullptr) return target.error("begin the backup");
  for (;;) {
    const int rc = sqlite3_backup_step(copy.get(), kPagesAtOnce);
    const int all = sqlite3_backup_pagecount(copy.get());
    if (rc != SQLITE_OK && rc != SQLITE_DONE) break;
    // After the last step the answer is ignored, because the copy is complete.
    const bool go_on = on_progress(all - sqlite3_backup_remaining(copy.get()), all);
    if (rc == SQLITE_DONE) return bytes;
    if (!go_on)
      return Error{ErrorCode::unavailable,
                   "The backup was stopped before it was complete, so its file was removed.", ""};
  }
  return target.error("write the backup");
}

}  // namespace

Result<void> back_up(const std::string& from, const std::string& to,
                     const std::function<bool(std::int64_t, std::int64_t)>& on_progress) {
  std::error_code error;
  if (std::filesystem::exists(to, error)) {
    return Error{ErrorCode::conflict, to + " exists already. Name another file, or remove it first.", ""};
  }
  auto source = open_source(from);
  if (!source) return source.error();
  Result<std::int64_t> copied = 0;
  // The block closes the target, so that its file is final when its size is compared.
  {
    auto target = SqliteConnection::open(to, SqliteConnection::OpenMode::write);
    copied = target ? copy_pages(*source, *target, on_progress) : Result<std::int64_t>(target.error());
  }
  // Compare the sizes, because a copy that the file system truncated must not pass as a backup.
  if (copied && *copied == size_of(to)) return {};
  // A partial copy must not stay, because it could be taken for a backup.
  std::filesystem::remove(to, error);
  std::filesystem::remove(to + "-journal", error);
  if (!copied) return copied.error();
  return Error{ErrorCode::unavailable,
               "The backup has another size than the store, so it was removed. Check the disk of the backup "
               "and try again.",
               ""};
}

Result<FileFacts> inspect(const std::string& path) {
  auto connection = open_source(path);
  if (!connection) return connection.error();
  const auto version = read_number(*connection, sql::read_version);
  if (!version) return version.error();
  const auto journal = read_text(*connection, sql::read_journal_mode);
  if (!journal) return journal.error();
  const auto moving = read_number(*connection, sql::find_move);
  if (!moving) return moving.error();
  return FileFacts{.schema = *version,
                   .newest_schema = static_cast<std::int64_t>(std::size(migrations::kAll)),
                   .journal_mode = *journal,
                   .bytes = size_of(path),
                   .log_bytes = size_of(path + "-wal"),
                   .moving = *moving > 0};
}

std::string library_version() { return sqlite3_libversion(); }

}  // namespace eventq::sqlite
