// sqlite_store.cc: see sqlite_store.h.
#include "store/sqlite/sqlite_store.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "generated/sqlite_sql.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/sqlite_reader.h"
#include "store/sqlite/sqlite_transaction.h"
#include "store/sqlite/writer.h"

namespace eventq::sqlite {
namespace {

// Pages in the write-ahead log from which tidy() checkpoints: 16 MiB.
constexpr int kCheckpointPages = 4096;
// Pages from which the checkpoint waits for readers and truncates the log, to stay under 64 MiB: 48 MiB.
constexpr int kTruncatePages = 3 * kCheckpointPages;

class SqliteStore final : public Store {
 public:
  SqliteStore(std::string path, const Clock& clock, LockFile lock, std::unique_ptr<SqliteWriter> writer)
      : path_(std::move(path)), clock_(clock), lock_(std::move(lock)), writer_(std::move(writer)) {
    sqlite3_wal_hook(writer_->connection.handle(), note_log_size, &log_pages_);
  }

  Result<std::unique_ptr<Transaction>> begin(std::optional<TimePoint> now) override {
    return SqliteTransaction::begin(*writer_, now.value_or(clock_.now()));
  }

  Result<std::unique_ptr<Reader>> reader() override { return open_reader(path_, clock_); }

  Result<void> allow_later(bool allowed) override {
    if (allowed == writer_->later_allowed) return {};
    auto done = writer_->connection.run(allowed ? sql::set_normal : sql::set_full);
    if (done) writer_->later_allowed = allowed;
    return done;
  }

  Result<StoreSizes> sizes() override {
    const auto size = [](const std::string& path) -> std::int64_t {
      std::error_code none;
      const auto bytes = std::filesystem::file_size(path, none);
      return none ? 0 : static_cast<std::int64_t>(bytes);
    };
    return StoreSizes{size(path_), size(path_ + "-wal")};
  }

  Result<void> tidy() override {
    if (log_pages_ < kCheckpointPages || writer_->connection.sync_failed()) return {};
    // A checkpoint that does not wait stops at pages that a reader still uses. Readers end their snapshots
    // often, so waiting is needed only when they held the log back for long.
    const bool wait = log_pages_ >= kTruncatePages;
    log_pages_ = 0;  // unknown until note_log_size() runs at the next commit
    return writer_->connection.run(wait ? sql::checkpoint_truncate : sql::checkpoint);
  }

 private:
  // The hook of sqlite3_wal_hook(); SQLite calls it after each commit.
  static int note_log_size(void* log_pages, sqlite3*, const char*, int pages) {
    *static_cast<int*>(log_pages) = pages;
    return SQLITE_OK;
  }

  // Never changed after the constructor. lock_ is declared before writer_, so it outlives the connection.
  const std::string path_;
  const Clock& clock_;
  const LockFile lock_;
  const std::unique_ptr<SqliteWriter> writer_;

  int log_pages_ = 0;  // pages in the write-ahead log after the last commit
};

}  // namespace

// sqlite3_config() returns an error when SQLite is already in use; ignore it, because only speed is lost.
void tune_process() { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

Result<std::unique_ptr<Store>> open_store(const std::string& path, const Clock& clock) {
  auto lock = LockFile::take(path);
  if (!lock) return lock.error();
  auto writer = SqliteWriter::open(path);
  auto whole = writer ? check_not_moving((*writer)->connection) : writer.error();
  if (!whole) {
    Error error = whole.error();
    error.message = path + ": " + error.message;
    return error;
  }
  return std::unique_ptr<Store>(
      std::make_unique<SqliteStore>(path, clock, std::move(*lock), std::move(*writer)));
}

}  // namespace eventq::sqlite
