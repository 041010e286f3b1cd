// state_connection.cc: opens the file of a NotebookState, and its transactions. See state_connection.h.
#include "notebook/state/state_connection.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <mutex>

namespace eventq::notebook {
namespace {

using Connection = sqlite::SqliteConnection;
using sqlite::Statement;

// "EvQn" in ASCII, and the version, as in schema.sql.
constexpr std::int64_t kApplication = 0x4576516e;
constexpr std::int64_t kVersion = 3;

constexpr std::string_view kPrepared[] = {
    sql::begin,          sql::commit,          sql::rollback,      sql::add_notebook,     sql::has_name,
    sql::notebooks,      sql::remove_notebook, sql::file,          sql::file_at,          sql::files,
    sql::files_within,   sql::counts,          sql::insert_file,   sql::update_file,      sql::remove_file,
    sql::add_step,       sql::steps,           sql::clear_steps,   sql::add_applied,      sql::applied,
    sql::forget_applied, sql::add_pending,     sql::pending,       sql::waiting,          sql::drop_pending,
    sql::git_marks,      sql::set_git_marks,   sql::add_commit,    sql::add_commit_event, sql::commits,
    sql::commit_of,      sql::set_git_note,    sql::git_noted,     sql::uncommitted,      sql::next_file_id,
    sql::add_reserved,   sql::is_reserved,     sql::drop_reserved, sql::like_path,        sql::add_gone,
    sql::gone_path,      sql::gone_hash,       sql::files_hash,    sql::drop_gone,        sql::expire_gone,
    sql::files_in,       sql::set_imported};

// Writes nothing: the file may belong to another program.
Result<void> check_owner(Connection& connection) {
  const auto application = read_number(connection, sql::read_application);
  if (!application) return application.error();
  const auto tables = read_number(connection, sql::count_tables);
  if (!tables) return tables.error();
  if (*application != kApplication && (*application != 0 || *tables != 0)) {
    return Error{ErrorCode::corrupt,
                 "The file is a SQLite database, but not one of eventq's notebooks. Name another file."};
  }
  const auto version = read_number(connection, sql::read_version);
  if (!version) return version.error();
  if (*version > kVersion) {
    return Error{ErrorCode::corrupt, "The file has schema " + std::to_string(*version) +
                                         ", this eventq knows up to " + std::to_string(kVersion) +
                                         ". Use the newer eventq that wrote it."};
  }
  return {};
}

// Reads the durability settings back, because SQLite ignores some PRAGMAs silently.
Result<void> configure(Connection& connection) {
  if (auto done = connection.run(sql::open); !done) return done;
  const auto journal = read_text(connection, sql::read_journal_mode);
  if (!journal) return journal.error();
  const auto synchronous = read_number(connection, sql::read_synchronous);
  if (!synchronous) return synchronous.error();
  if (*journal == "wal" && *synchronous == 2) return {};
  return Error{ErrorCode::unavailable, "SQLite cannot promise durability here: it answers journal_mode " +
                                           *journal + " (wal is needed) and synchronous " +
                                           std::to_string(*synchronous) + " (2 is needed)."};
}

// One transaction, in which a second process finds the schema made. An up-to-date file needs no write lock.
Result<void> make_schema(Connection& connection) {
  const auto before = read_number(connection, sql::read_version);
  if (!before) return before.error();
  if (*before == kVersion) return {};
  if (auto begun = connection.run(sql::begin); !begun) return begun;
  const auto version = read_number(connection, sql::read_version);
  auto done = version ? Result<void>() : Result<void>(version.error());
  if (done && *version == 0) done = connection.run(sql::schema);
  if (done && *version == 1) done = connection.run(sql::from_version_1);
  if (done && (*version == 1 || *version == 2)) done = connection.run(sql::from_version_2);
  if (done) done = connection.run(sql::commit);
  // Ignore an error of the rollback: the first error is the one to report.
  if (!done) static_cast<void>(connection.run(sql::rollback));
  return done;
}

}  // namespace

Result<std::unique_ptr<StateConnection>> StateConnection::open(const std::string& path) {
  const auto at = [&](Error error) {
    error.message = path + ": " + error.message;
    return error;
  };
  // Two connections that switch a new file to WAL at the same time fail instead of waiting.
  static std::mutex opening;
  const std::scoped_lock lock(opening);
  // SQLite gives the files beside it the same mode. mknod() instead of open(): closing a descriptor of the
  // file would drop the locks of this process's other connections.
  if (::mknod(path.c_str(), S_IFREG | 0600, 0) != 0 && errno != EEXIST) {
    return at({ErrorCode::unavailable, "It cannot be made: " + std::string(std::strerror(errno)) + "."});
  }
  auto opened = Connection::open(path, Connection::OpenMode::write);
  if (!opened) return opened.error();
  std::unique_ptr<StateConnection> state(new StateConnection(std::move(*opened)));
  auto done = state->connection_.run(sql::wait);
  if (done) done = check_owner(state->connection_);
  if (done) done = configure(state->connection_);
  if (done) done = make_schema(state->connection_);
  if (done) done = state->prepare();
  if (!done) return at(done.error());
  return state;
}

Result<void> StateConnection::prepare() {
  for (const std::string_view text : kPrepared) {
    auto statement = Statement::prepare(connection_, text);
    if (!statement) return statement.error();
    statements_.emplace(text, std::move(*statement));
  }
  return {};
}

Result<void> StateConnection::begin_transaction() {
  if (connection_.sync_failed()) {
    return Error{ErrorCode::unavailable,
                 "A sync to the disk failed, so nothing more can be promised. Check the disk and restart."};
  }
  return finish(use(sql::begin));
}

Result<void> StateConnection::commit_transaction() {
  auto done = finish(use(sql::commit));
  if (done) return done;
  roll_back();
  Error error = done.error();
  // SQLite reports a full disk before it writes the commit record; after other errors the record may exist.
  if (error.code == ErrorCode::unavailable) {
    error.code = ErrorCode::unknown_outcome;
    error.message += " Whether the change is on disk is not known.";
  }
  return error;
}

void StateConnection::roll_back() {
  // An error means that SQLite has rolled back by itself.
  if (in_transaction()) static_cast<void>(use(sql::rollback).run());
}

FileState read_file_state(const Statement& row, int first_column) {
  return {.inode = static_cast<std::uint64_t>(row.integer(first_column)),
          .size = row.integer(first_column + 1),
          .modified_ns = row.integer(first_column + 2),
          .executable = row.integer(first_column + 3) != 0};
}

Statement& bind_file_state(Statement& statement, const FileState& state) {
  return statement.bind(static_cast<std::int64_t>(state.inode))
      .bind(state.size)
      .bind(state.modified_ns)
      .bind(std::int64_t{state.executable});
}

}  // namespace eventq::notebook
