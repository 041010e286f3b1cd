// connection.cc: see connection.h.
#include "store/sqlite/connection.h"

#include <cerrno>
#include <cstring>

#include "base/assert.h"

namespace eventq::sqlite {
namespace {

bool is_failed_sync(int extended) {
  return extended == SQLITE_IOERR_FSYNC || extended == SQLITE_IOERR_DIR_FSYNC;
}

ErrorCode code_of(int extended, int system_errno) {
  // A sync that fails with ENOSPC is not no_space, because part of the data may be on disk.
  if (is_failed_sync(extended)) return ErrorCode::unavailable;
  // SQLite reports ENOSPC of a plain write as SQLITE_FULL. EDQUOT and other calls come as an I/O error.
  if (system_errno == ENOSPC || system_errno == EDQUOT) {
    if ((extended & 0xff) == SQLITE_IOERR) return ErrorCode::no_space;
  }
  switch (extended & 0xff) {
    case SQLITE_FULL: return ErrorCode::no_space;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::corrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_NOMEM: return ErrorCode::unavailable;
    default: return ErrorCode::internal;
  }
}

}  // namespace

Result<SqliteConnection> SqliteConnection::open(const std::string& path, OpenMode mode) {
  // NOMUTEX: a connection belongs to one thread at a time. EXRESCODE: is_failed_sync() needs extended codes.
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (mode == OpenMode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                    (mode == OpenMode::write ? SQLITE_OPEN_CREATE : 0);
  sqlite3* handle = nullptr;
  const int rc = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  SqliteConnection connection(handle);
  if ((rc & 0xff) == SQLITE_CANTOPEN && sqlite3_system_errno(handle) != 0) {
    const std::string why = std::strerror(sqlite3_system_errno(handle));
    return Error{ErrorCode::unavailable, "Cannot open " + path + ": " + why + ".", ""};
  }
  if (rc != SQLITE_OK) return connection.error("open " + path);
  // Only the writer checkpoints; by default SQLite would when the last connection closes.
  if (mode == OpenMode::read) sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return connection;
}

Result<void> SqliteConnection::run(std::string_view sql) {
  // sqlite3_exec() needs a text that ends with a zero byte.
  const std::string text(sql);
  if (sqlite3_exec(handle(), text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return error("run a statement");
  }
  return {};
}

Result<void> SqliteConnection::sync_log() {
  // SQLite has no call that only syncs its log, so this calls the sync of the open file itself.
  sqlite3_file* log = nullptr;
  if (sqlite3_file_control(handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log)) !=
      SQLITE_OK) {
    return error("find its write-ahead log");
  }
  if (log == nullptr || log->pMethods == nullptr) return {};  // no log file: nothing was written
  if (log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) == SQLITE_OK) return {};
  note_failed_sync();
  return Error{ErrorCode::unavailable, "The store could not sync its write-ahead log to the disk.", ""};
}

void SqliteConnection::note_failed_sync() {
  sync_failed_ = true;
  // After a failed sync the log may be incomplete, so closing must not copy it into the database file.
  sqlite3_db_config(handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

Error SqliteConnection::error(std::string_view doing) {
  const int extended = sqlite3_extended_errcode(handle());
  if (is_failed_sync(extended)) note_failed_sync();
  const ErrorCode code = code_of(extended, sqlite3_system_errno(handle()));
  if (code == ErrorCode::no_space) {
    return {code, "The disk is full; nothing was changed. Free some space and try again.", ""};
  }
  if ((extended & 0xff) == SQLITE_NOTADB) {
    return {code,
            "The file is not a SQLite database, or its first page is damaged. Name another file, or "
            "restore the store from a backup.",
            ""};
  }
  return {code,
          "The store could not " + std::string(doing) + ": " + sqlite3_errmsg(handle()) + " (SQLite code " +
              std::to_string(extended) + ").",
          ""};
}

Result<Statement> Statement::prepare(SqliteConnection& connection, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  // PERSISTENT: the statement is kept, so SQLite does not take its memory from the small lookaside pool.
  const int rc = sqlite3_prepare_v3(connection.handle(), sql.data(), static_cast<int>(sql.size()),
                                    SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (rc != SQLITE_OK) return connection.error("prepare a statement");
  return Statement(connection, statement);
}

Statement& Statement::reset() {
  sqlite3_reset(statement_.get());
  next_ = 1;
  return *this;
}

Statement& Statement::bind_number(std::int64_t value) {
  EVENTQ_ASSERT(sqlite3_bind_int64(statement_.get(), next_++, value) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  // An empty view may have a null pointer, which SQLite would bind as NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  EVENTQ_ASSERT(sqlite3_bind_text(statement_.get(), next_++, data, static_cast<int>(text.size()),
                                  SQLITE_STATIC) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind(std::nullptr_t) {
  EVENTQ_ASSERT(sqlite3_bind_null(statement_.get(), next_++) == SQLITE_OK);
  return *this;
}

Result<bool> Statement::step() {
  const int rc = sqlite3_step(statement_.get());
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  Error error = connection_->error("run a statement");
  // Without the reset, the failed statement keeps its read lock and the next statement fails.
  sqlite3_reset(statement_.get());
  return error;
}

Result<int> Statement::run() {
  const auto row = step();
  if (!row) return row.error();
  EVENTQ_ASSERT(!*row);
  sqlite3_reset(statement_.get());
  return sqlite3_changes(connection_->handle());
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::optional<std::string> Statement::optional_text(int column) const {
  if (is_null(column)) return std::nullopt;
  return std::string(text(column));
}

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

Statement Preparer::operator()(std::string_view sql) {
  auto statement = Statement::prepare(connection_, sql);
  if (statement) return std::move(*statement);
  // The first error is the cause; later statements may fail only because of it.
  if (result_) result_ = statement.error();
  return {};
}

Result<std::int64_t> read_number(SqliteConnection& connection, std::string_view sql) {
  auto found = all_rows(connection, sql, [](const Statement& row) { return row.integer(0); });
  if (!found) return found.error();
  return found->empty() ? 0 : found->front();
}

Result<std::string> read_text(SqliteConnection& connection, std::string_view sql) {
  auto found = all_rows(connection, sql, [](const Statement& row) { return std::string(row.text(0)); });
  if (!found) return found.error();
  return found->empty() ? std::string() : found->front();
}

}  // namespace eventq::sqlite
