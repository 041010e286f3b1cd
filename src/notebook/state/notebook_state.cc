// notebook_state.cc: opening, transactions and the rows of notebooks. See notebook_state.h.
#include "notebook/state/notebook_state.h"

#include "notebook/state/state_connection.h"

namespace eventq::notebook {
namespace {

using sqlite::Statement;

NotebookRow read_notebook_row(const Statement& row) {
  return {.id = row.integer(0),
          .name = std::string(row.text(1)),
          .path = std::string(row.text(2)),
          .settings = {.poll_interval = Millis(row.integer(3)),
                       .batch_size = static_cast<std::size_t>(row.integer(4)),
                       .git_commit_interval = Millis(row.integer(5)),
                       .git_commit_max_files = static_cast<std::size_t>(row.integer(6)),
                       .max_retries = static_cast<int>(row.integer(7)),
                       .retry_backoff = Millis(row.integer(8)),
                       .completed_retention = std::chrono::seconds(row.integer(9)),
                       .failed_retention = std::chrono::seconds(row.integer(10)),
                       .git_bypass_filters = std::string(row.text(12)),
                       .git_nested = row.integer(13) != 0,
                       .max_file_size = row.integer(14),
                       .deleted_metadata_retention = std::chrono::seconds(row.integer(15)),
                       .portable_names = row.integer(16) != 0},
          .created_at = time_point(row.integer(11)),
          .imported = row.integer(17) != 0};
}

Statement& bind_notebook_row(Statement& statement, const NotebookRow& row) {
  const NotebookSettings& settings = row.settings;
  return statement.bind(row.name)
      .bind(row.path)
      .bind(std::int64_t{settings.poll_interval.count()})
      .bind(static_cast<std::int64_t>(settings.batch_size))
      .bind(std::int64_t{settings.git_commit_interval.count()})
      .bind(static_cast<std::int64_t>(settings.git_commit_max_files))
      .bind(std::int64_t{settings.max_retries})
      .bind(std::int64_t{settings.retry_backoff.count()})
      .bind(std::int64_t{settings.completed_retention.count()})
      .bind(std::int64_t{settings.failed_retention.count()})
      .bind(millis_of(row.created_at))
      .bind(settings.git_bypass_filters)
      .bind(std::int64_t{settings.git_nested})
      .bind(settings.max_file_size)
      .bind(std::int64_t{settings.deleted_metadata_retention.count()})
      .bind(std::int64_t{settings.portable_names});
}

}  // namespace

Result<NotebookState> NotebookState::open(const std::string& path) {
  auto db = StateConnection::open(path);
  if (!db) return db.error();
  return NotebookState(std::move(*db));
}

NotebookState::NotebookState(std::unique_ptr<StateConnection> db) : db_(std::move(db)) {}
NotebookState::NotebookState(NotebookState&&) noexcept = default;
NotebookState::~NotebookState() = default;

Result<void> NotebookState::begin() {
  db_->roll_back();
  return db_->begin_transaction();
}

Result<void> NotebookState::commit() { return db_->commit_transaction(); }

void NotebookState::rollback() { db_->roll_back(); }

Result<NotebookRow> NotebookState::add_notebook(const NotebookRow& row) {
  return db_->atomically([&]() -> Result<NotebookRow> {
    const auto inserted = bind_notebook_row(db_->use(sql::add_notebook), row).run();
    if (!inserted) return inserted.error();
    if (*inserted == 1) {
      NotebookRow added = row;
      added.id = db_->last_id();
      return added;
    }
    const auto same_name = one_row(db_->use(sql::has_name).bind(row.name),
                                   [](const Statement& found) { return found.integer(0) != 0; });
    if (!same_name) return same_name.error();
    if (same_name->value_or(false)) return taken("notebook", row.name, "name");
    return taken("notebook at", row.path, "path");
  });
}

Result<std::vector<NotebookRow>> NotebookState::notebooks() {
  return all_rows(db_->use(sql::notebooks), read_notebook_row);
}

Result<void> NotebookState::remove_notebook(std::int64_t id) {
  return db_->write(db_->use(sql::remove_notebook).bind(id));
}

}  // namespace eventq::notebook
