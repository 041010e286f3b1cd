// state_commits.cc: pending changes, git marks and commits. See notebook_state.h.
#include "notebook/state/state_connection.h"

namespace eventq::notebook {

using sqlite::Statement;

Result<void> NotebookState::add_pending(std::int64_t notebook, const std::vector<PendingChange>& changes) {
  return db_->write_each(changes, [&](const PendingChange& change) {
    Statement& add = db_->use(sql::add_pending).bind(notebook).bind(change.path).bind(change.event_id);
    return finish(add.bind(change.correlation_id).bind(millis_of(change.since)));
  });
}

Result<std::vector<PendingChange>> NotebookState::pending(std::int64_t notebook) {
  return all_rows(db_->use(sql::pending).bind(notebook), [](const Statement& row) {
    return PendingChange{.number = row.integer(0),
                         .path = std::string(row.text(1)),
                         .event_id = std::string(row.text(2)),
                         .correlation_id = std::string(row.text(3)),
                         .since = time_point(row.integer(4))};
  });
}

Result<CommitBacklog> NotebookState::waiting(std::int64_t notebook) {
  const auto found = one_row(db_->use(sql::waiting).bind(notebook), [](const Statement& row) {
    CommitBacklog backlog{.paths = row.integer(0)};
    if (const auto since = row.optional_integer(1)) backlog.since = time_point(*since);
    return backlog;
  });
  if (!found) return found.error();
  return found->value_or(CommitBacklog{});
}

Result<void> NotebookState::set_git_marks(std::int64_t notebook, const GitMarks& marks,
                                          const std::vector<PendingChange>& changes) {
  return db_->atomically([&]() -> Result<void> {
    if (auto done = add_pending(notebook, changes); !done) return done;
    return finish(db_->use(sql::set_git_marks).bind(notebook).bind(marks.head).bind(marks.index));
  });
}

Result<GitMarks> NotebookState::git_marks(std::int64_t notebook) {
  const auto found = one_row(db_->use(sql::git_marks).bind(notebook), [](const Statement& row) {
    return GitMarks{.head = row.optional_text(0), .index = row.optional_text(1)};
  });
  if (!found) return found.error();
  return found->value_or(GitMarks{});
}

Result<void> NotebookState::add_commit(std::int64_t notebook, const CommitRow& row, std::int64_t last,
                                       const GitMarks& marks, const std::vector<PendingChange>& again) {
  return db_->atomically([&]() -> Result<void> {
    auto done = finish(db_->use(sql::drop_pending).bind(notebook).bind(last));
    if (done) done = set_git_marks(notebook, marks, again);
    if (!done || row.hash.empty()) return done;
    done = finish(db_->use(sql::add_commit)
                      .bind(notebook)
                      .bind(row.hash)
                      .bind(row.message)
                      .bind(millis_of(row.at))
                      .bind(row.files));
    const std::int64_t commit = db_->last_id();
    std::int64_t position = 0;
    for (const std::string& event_id : row.event_ids) {
      if (!done) return done;
      Statement& add = db_->use(sql::add_commit_event).bind(commit).bind(position++).bind(notebook);
      done = finish(add.bind(event_id));
    }
    return done;
  });
}

Result<void> NotebookState::set_git_note(std::int64_t notebook, const std::vector<std::string>& paths,
                                         std::string_view note) {
  return db_->write_each(paths, [&](const std::string& path) {
    return finish(db_->use(sql::set_git_note).bind(notebook).bind(path).bind(note));
  });
}

Result<std::vector<std::string>> NotebookState::git_noted(std::int64_t notebook, std::string_view note,
                                                          std::size_t limit) {
  Statement& statement = db_->use(sql::git_noted).bind(notebook).bind(note);
  return all_rows(statement.bind(static_cast<std::int64_t>(limit)),
                  [](const Statement& row) { return std::string(row.text(0)); });
}

Result<std::vector<UncommittedFiles>> NotebookState::uncommitted(std::int64_t notebook, std::size_t paths) {
  auto found = all_rows(db_->use(sql::uncommitted).bind(notebook), [](const Statement& row) {
    return UncommittedFiles{.git = std::string(row.text(0)), .count = row.integer(1), .paths = {}};
  });
  if (!found) return found;
  for (UncommittedFiles& files : *found) {
    auto first = git_noted(notebook, files.git, paths);
    if (!first) return first.error();
    files.paths = std::move(*first);
  }
  return found;
}

// commits.sql returns one row per event, so rows with the number of the row before extend the last commit.
Result<std::vector<CommitRow>> NotebookState::commits(std::int64_t notebook, std::size_t limit) {
  std::vector<CommitRow> found;
  std::int64_t number = 0;
  Statement& statement = db_->use(sql::commits).bind(notebook).bind(static_cast<std::int64_t>(limit));
  const auto read = all_rows(statement, [&](const Statement& row) {
    if (std::exchange(number, row.integer(0)) != row.integer(0)) {
      found.push_back({.hash = std::string(row.text(1)),
                       .message = std::string(row.text(2)),
                       .at = time_point(row.integer(3)),
                       .files = row.integer(4)});
    }
    if (!row.is_null(5)) found.back().event_ids.emplace_back(row.text(5));
    return number;
  });
  if (!read) return read.error();
  return found;
}

Result<std::optional<std::string>> NotebookState::commit_of(std::int64_t notebook,
                                                            std::string_view event_id) {
  return one_row(db_->use(sql::commit_of).bind(notebook).bind(event_id),
                 [](const Statement& row) { return std::string(row.text(0)); });
}

}  // namespace eventq::notebook
