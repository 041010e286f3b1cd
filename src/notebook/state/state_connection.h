// state_connection.h: the connection of a NotebookState with its prepared statements. Private to state/.
//
// Threads: as NotebookState.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "generated/notebook_sql.h"
#include "notebook/state/notebook_state.h"
#include "store/sqlite/connection.h"

namespace eventq::notebook {

// Runs a bound statement that returns no rows.
inline Result<void> finish(sqlite::Statement& statement) {
  if (auto done = statement.run(); !done) return done.error();
  return {};
}

// On the heap, because each Statement keeps a pointer to its Connection.
class StateConnection {
 public:
  // Creates the file when absent, checks its owner, sets and reads back durability, migrates, prepares.
  static Result<std::unique_ptr<StateConnection>> open(const std::string& path);
  // The prepared statement of a constant of namespace sql, reset. REQUIRES: it is in kPrepared.
  sqlite::Statement& use(std::string_view text) { return statements_.at(text).reset(); }

  // Errors: unavailable after a failed sync, because nothing can be acknowledged any more.
  Result<void> begin_transaction();
  // Errors: unknown_outcome when the commit record may or may not be on disk.
  Result<void> commit_transaction();
  void roll_back();

  // Runs `work` in the open transaction, or in one of its own.
  template <typename Work>
  auto atomically(const Work& work) -> decltype(work()) {
    if (in_transaction()) return work();
    if (auto begun = begin_transaction(); !begun) return begun.error();
    auto done = work();
    if (!done) {
      roll_back();
      return done;
    }
    if (auto committed = commit_transaction(); !committed) return committed.error();
    return done;
  }
  // The same for one call of `write` per item, all in one transaction.
  template <typename Items, typename Write>
  Result<void> write_each(const Items& items, const Write& write) {
    return atomically([&]() -> Result<void> {
      for (const auto& item : items) {
        if (auto done = write(item); !done) return done;
      }
      return {};
    });
  }
  // The same for one bound statement that returns no rows.
  Result<void> write(sqlite::Statement& statement) {
    return atomically([&] { return finish(statement); });
  }

  [[nodiscard]] std::int64_t last_id() const { return sqlite3_last_insert_rowid(connection_.handle()); }

 private:
  explicit StateConnection(sqlite::SqliteConnection opened) : connection_(std::move(opened)) {}
  Result<void> prepare();
  [[nodiscard]] bool in_transaction() const { return sqlite3_get_autocommit(connection_.handle()) == 0; }

  sqlite::SqliteConnection connection_;
  std::unordered_map<std::string_view, sqlite::Statement> statements_;  // by text
};

inline std::int64_t millis_of(TimePoint time) { return time.time_since_epoch().count(); }
inline TimePoint time_point(std::int64_t milliseconds) { return TimePoint(Millis(milliseconds)); }

// A FileState has the same four columns in `file` and `step`.
FileState read_file_state(const sqlite::Statement& row, int first_column);
sqlite::Statement& bind_file_state(sqlite::Statement& statement, const FileState& state);

// The columns of file.sql, files.sql and of the other statements that return rows of files.
FileRow read_file_row(const sqlite::Statement& row);

// The error for a name or path that another row has.
inline Error taken(std::string_view what, const std::string& name, std::string_view field) {
  return {ErrorCode::conflict, "There is already a " + std::string(what) + " " + name + ". Name another one.",
          std::string(field)};
}

}  // namespace eventq::notebook
