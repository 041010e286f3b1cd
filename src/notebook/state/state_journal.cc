// state_journal.cc: the journal of steps, and applied events. See notebook_state.h.
#include "notebook/state/state_connection.h"

namespace eventq::notebook {

using sqlite::Statement;

Result<void> NotebookState::add_steps(std::int64_t notebook, const std::vector<JournalStep>& steps) {
  return db_->write_each(steps, [&](const JournalStep& step) {
    const auto kind = static_cast<std::int64_t>(step.kind);
    Statement& add = db_->use(sql::add_step).bind(notebook).bind(kind).bind(step.from).bind(step.to);
    return finish(bind_file_state(add, step.what));
  });
}

Result<std::vector<JournalStep>> NotebookState::steps(std::int64_t notebook) {
  return all_rows(db_->use(sql::steps).bind(notebook), [](const Statement& row) {
    return JournalStep{.kind = static_cast<StepKind>(row.integer(0)),
                       .from = std::string(row.text(1)),
                       .to = std::string(row.text(2)),
                       .what = read_file_state(row, 3)};
  });
}

Result<void> NotebookState::clear_steps(std::int64_t notebook) {
  return db_->write(db_->use(sql::clear_steps).bind(notebook));
}

// Records an event whose changes are on disk. The row is in the transaction that stores those changes, so
// after a crash the worker reports the event and does not apply it twice. forget_applied() deletes the row
// when the queue has the report.
Result<void> NotebookState::add_applied(std::int64_t notebook, EventId id) {
  return db_->write(db_->use(sql::add_applied).bind(notebook).bind(static_cast<std::int64_t>(id)));
}

Result<std::vector<EventId>> NotebookState::applied(std::int64_t notebook) {
  return all_rows(db_->use(sql::applied).bind(notebook),
                  [](const Statement& row) { return EventId{row.integer(0)}; });
}

Result<void> NotebookState::forget_applied(std::int64_t notebook, const std::vector<EventId>& ids) {
  return db_->write_each(ids, [&](EventId id) {
    return finish(db_->use(sql::forget_applied).bind(notebook).bind(static_cast<std::int64_t>(id)));
  });
}

}  // namespace eventq::notebook
