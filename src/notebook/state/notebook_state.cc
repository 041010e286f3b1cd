// notebook_state.cc: see notebook_state.h.
#include "notebook/state/notebook_state.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "generated/notebook_sql.h"
#include "notebook/files/note_path.h"
#include "store/sqlite/connection.h"

namespace eventq::notebook {

using Connection = sqlite::SqliteConnection;
using sqlite::Statement;

// On the heap, so that the statements' connection stays where it is.
struct NotebookState::Parts {
  explicit Parts(Connection opened) : connection(std::move(opened)) {}

  Connection connection;
  Statement begin, commit, rollback;
  Statement add_notebook, has_name, notebooks, remove_notebook;
  Statement file, file_at, files, files_within, counts, insert_file, update_file, remove_file;
  Statement add_step, steps, clear_steps;
  Statement add_applied, applied, forget_applied;
  Statement add_pending, pending, waiting, drop_pending;
  Statement git_marks, set_git_marks;
  Statement add_commit, add_commit_event, commits, commit_of;

  [[nodiscard]] bool in_transaction() const { return sqlite3_get_autocommit(connection.handle()) == 0; }
  Result<void> begin_now();
  Result<void> commit_now();
  void roll_back();

  // `work` as a part of the transaction that is open, or as one of its own.
  template <typename Work>
  Result<void> atomically(const Work& work) {
    if (in_transaction()) return work();
    if (auto begun = begin_now(); !begun) return begun;
    if (auto done = work(); !done) {
      roll_back();
      return done;
    }
    return commit_now();
  }

  Result<void> put(std::int64_t notebook, const FileRow& row, std::int64_t& id);
};

namespace {

// "EvQn" in ASCII, and the version, as in schema.sql.
constexpr std::int64_t kApplication = 0x4576516e;
constexpr std::int64_t kVersion = 2;

std::int64_t millis_of(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint time_point(std::int64_t milliseconds) { return TimePoint(Millis(milliseconds)); }

// Runs a statement that answers nothing.
Result<void> finish(Statement& statement) {
  if (auto done = statement.run(); !done) return done.error();
  return {};
}

// All rows of a statement whose parameters are bound.
template <typename Read>
auto all_rows(Statement& statement, const Read& read) -> Result<std::vector<decltype(read(statement))>> {
  std::vector<decltype(read(statement))> found;
  for (;;) {
    const auto row = statement.step();
    if (!row) return row.error();
    if (!*row) break;
    found.push_back(read(statement));
  }
  statement.reset();
  return found;
}

// The only one, if there is one.
template <typename Read>
auto one_row(Statement& statement, const Read& read) -> Result<std::optional<decltype(read(statement))>> {
  std::optional<decltype(read(statement))> found;
  const auto row = statement.step();
  if (!row) return row.error();
  if (*row) found = read(statement);
  statement.reset();  // lets go of the snapshot it reads
  return found;
}

FileState read_file_state(const Statement& row, int column) {
  return {.inode = static_cast<std::uint64_t>(row.integer(column)),
          .size = row.integer(column + 1),
          .modified_ns = row.integer(column + 2),
          .executable = row.integer(column + 3) != 0};
}

void bind_file_state(Statement& statement, const FileState& state) {
  statement.bind(static_cast<std::int64_t>(state.inode))
      .bind(state.size)
      .bind(state.modified_ns)
      .bind(std::int64_t{state.executable});
}

NotebookRow notebook_row(const Statement& row) {
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
                       .failed_retention = std::chrono::seconds(row.integer(10))},
          .created_at = time_point(row.integer(11))};
}

FileRow read_file(const Statement& row) {
  return {.id = row.integer(0),
          .folder = row.integer(1) != 0,
          .path = std::string(row.text(2)),
          .state = read_file_state(row, 3),
          .hash = std::string(row.text(7)),
          .content_type = std::string(row.text(8)),
          .metadata = {.title = row.optional_text(9),
                       .description = row.optional_text(10),
                       .extra = std::string(row.text(11))},
          .updated_at = time_point(row.integer(12)),
          .event_id = std::string(row.text(13))};
}

// The parameters that insert_file.sql and update_file.sql have in common.
Statement& bind_file(Statement& statement, std::int64_t notebook, const FileRow& row) {
  statement.reset().bind(notebook).bind(std::int64_t{row.folder}).bind(row.path);
  bind_file_state(statement, row.state);
  return statement.bind(row.hash)
      .bind(row.content_type)
      .bind(row.metadata.title)
      .bind(row.metadata.description)
      .bind(row.metadata.extra)
      .bind(millis_of(row.updated_at))
      .bind(row.event_id);
}

void bind_which(Statement& statement, FileFilter which) {
  statement.bind(std::int64_t{which == FileFilter::folders}).bind(std::int64_t{which != FileFilter::files});
}

Error taken(std::string_view what, const std::string& name, std::string_view field) {
  return {ErrorCode::conflict, "There is already a " + std::string(what) + " " + name + ". Name another one.",
          std::string(field)};
}

// Reads whose file it is, and writes nothing.
Result<void> check_owner(Connection& connection) {
  const auto application = read_number(connection, sql::read_application);
  if (!application) return application.error();
  const auto tables = read_number(connection, sql::count_tables);
  if (!tables) return tables.error();
  if (*application != kApplication && (*application != 0 || *tables != 0)) {
    return Error{ErrorCode::corrupt,
                 "The file is a SQLite database, but not one of eventq's notebooks. Name another file.", ""};
  }
  const auto version = read_number(connection, sql::read_version);
  if (!version) return version.error();
  if (*version > kVersion) {
    return Error{ErrorCode::corrupt,
                 "The file has schema " + std::to_string(*version) + ", this eventq knows up to " +
                     std::to_string(kVersion) + ". Use the newer eventq that wrote it.",
                 ""};
  }
  return {};
}

// Durability is set and read back.
Result<void> configure(Connection& connection) {
  if (auto done = connection.run(sql::open); !done) return done;
  auto statement = Statement::prepare(connection, sql::read_journal_mode);
  if (!statement) return statement.error();
  const auto journal = one_row(*statement, [](const Statement& row) { return std::string(row.text(0)); });
  if (!journal) return journal.error();
  const auto synchronous = read_number(connection, sql::read_synchronous);
  if (!synchronous) return synchronous.error();
  if (*journal == "wal" && *synchronous == 2) return {};
  return Error{ErrorCode::unavailable,
               "SQLite cannot promise durability here: it answers journal_mode " + journal->value_or("") +
                   " (wal is needed) and synchronous " + std::to_string(*synchronous) + " (2 is needed).",
               ""};
}

// In one transaction; whoever is second finds it made. One that is there and up to date is not waited for.
Result<void> make_schema(Connection& connection) {
  const auto before = read_number(connection, sql::read_version);
  if (!before) return before.error();
  if (*before == kVersion) return {};
  if (auto begun = connection.run(sql::begin); !begun) return begun;
  const auto version = read_number(connection, sql::read_version);
  auto done = version ? Result<void>() : Result<void>(version.error());
  if (done && *version == 0) done = connection.run(sql::schema);
  if (done && *version == 1) done = connection.run(sql::from_version_1);
  if (done) done = connection.run(sql::commit);
  // Whatever the rollback says, the first error is the one to report.
  if (!done) static_cast<void>(connection.run(sql::rollback));
  return done;
}

}  // namespace

Result<void> NotebookState::Parts::begin_now() {
  if (connection.sync_failed()) {
    return Error{ErrorCode::unavailable,
                 "A sync to the disk failed, so nothing more can be promised. Check the disk and restart.",
                 ""};
  }
  return finish(begin.reset());
}

Result<void> NotebookState::Parts::commit_now() {
  auto done = commit.reset().run();
  if (done) return {};
  roll_back();
  Error error = done.error();
  // Only a full disk is noticed before the commit record is written.
  if (error.code == ErrorCode::unavailable) {
    error.code = ErrorCode::unknown_outcome;
    error.message += " Whether the change is on disk is not known.";
  }
  return error;
}

void NotebookState::Parts::roll_back() {
  // One that fails has been done by SQLite itself.
  if (in_transaction()) static_cast<void>(rollback.reset().run());
}

Result<NotebookState> NotebookState::open(const std::string& path) {
  const auto at = [&](Error error) {
    error.message = path + ": " + error.message;
    return error;
  };
  // Two that give a new file its write-ahead log at once do not wait for, but refuse each other.
  static std::mutex opening;
  const std::scoped_lock lock(opening);
  // The file's mode is that of what SQLite puts beside it. Never opened here: closing it would drop the locks
  // that another connection of this process has on it.
  if (::mknod(path.c_str(), S_IFREG | 0600, 0) != 0 && errno != EEXIST) {
    return at({ErrorCode::unavailable, "It cannot be made: " + std::string(std::strerror(errno)) + ".", ""});
  }
  auto connection = Connection::open(path, Connection::OpenMode::write);
  if (!connection) return connection.error();
  auto parts = std::make_unique<Parts>(std::move(*connection));
  if (auto set = parts->connection.run(sql::wait); !set) return at(set.error());
  if (auto ours = check_owner(parts->connection); !ours) return at(ours.error());
  if (auto durable = configure(parts->connection); !durable) return at(durable.error());
  if (auto made = make_schema(parts->connection); !made) return at(made.error());

  const std::pair<Statement*, std::string_view> statements[] = {
      {&parts->begin, sql::begin},
      {&parts->commit, sql::commit},
      {&parts->rollback, sql::rollback},
      {&parts->add_notebook, sql::add_notebook},
      {&parts->has_name, sql::has_name},
      {&parts->notebooks, sql::notebooks},
      {&parts->remove_notebook, sql::remove_notebook},
      {&parts->file, sql::file},
      {&parts->file_at, sql::file_at},
      {&parts->files, sql::files},
      {&parts->files_within, sql::files_within},
      {&parts->counts, sql::counts},
      {&parts->insert_file, sql::insert_file},
      {&parts->update_file, sql::update_file},
      {&parts->remove_file, sql::remove_file},
      {&parts->add_step, sql::add_step},
      {&parts->steps, sql::steps},
      {&parts->clear_steps, sql::clear_steps},
      {&parts->add_applied, sql::add_applied},
      {&parts->applied, sql::applied},
      {&parts->forget_applied, sql::forget_applied},
      {&parts->add_pending, sql::add_pending},
      {&parts->pending, sql::pending},
      {&parts->waiting, sql::waiting},
      {&parts->drop_pending, sql::drop_pending},
      {&parts->git_marks, sql::git_marks},
      {&parts->set_git_marks, sql::set_git_marks},
      {&parts->add_commit, sql::add_commit},
      {&parts->add_commit_event, sql::add_commit_event},
      {&parts->commits, sql::commits},
      {&parts->commit_of, sql::commit_of},
  };
  for (const auto& [statement, text] : statements) {
    auto prepared = Statement::prepare(parts->connection, text);
    if (!prepared) return at(prepared.error());
    *statement = std::move(*prepared);
  }
  return NotebookState(std::move(parts));
}

NotebookState::NotebookState(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
NotebookState::NotebookState(NotebookState&&) noexcept = default;
NotebookState::~NotebookState() = default;

Result<void> NotebookState::begin() {
  parts_->roll_back();
  return parts_->begin_now();
}

Result<void> NotebookState::commit() { return parts_->commit_now(); }

void NotebookState::rollback() { parts_->roll_back(); }

Result<NotebookRow> NotebookState::add_notebook(const NotebookRow& row) {
  NotebookRow added = row;
  const NotebookSettings& settings = row.settings;
  auto done = parts_->atomically([&]() -> Result<void> {
    const auto inserted = parts_->add_notebook.reset()
                              .bind(row.name)
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
                              .run();
    if (!inserted) return inserted.error();
    added.id = sqlite3_last_insert_rowid(parts_->connection.handle());
    if (*inserted == 1) return {};
    const auto same_name = one_row(parts_->has_name.reset().bind(row.name),
                                   [](const Statement& found) { return found.integer(0) != 0; });
    if (!same_name) return same_name.error();
    if (same_name->value_or(false)) return taken("notebook", row.name, "name");
    return taken("notebook at", row.path, "path");
  });
  if (!done) return done.error();
  return added;
}

Result<std::vector<NotebookRow>> NotebookState::notebooks() {
  return all_rows(parts_->notebooks.reset(), notebook_row);
}

Result<void> NotebookState::remove_notebook(std::int64_t id) {
  return parts_->atomically([&] { return finish(parts_->remove_notebook.reset().bind(id)); });
}

Result<std::optional<FileRow>> NotebookState::file(std::int64_t notebook, std::int64_t id) {
  return one_row(parts_->file.reset().bind(notebook).bind(id), read_file);
}

Result<std::optional<FileRow>> NotebookState::file_at(std::int64_t notebook, std::string_view path) {
  return one_row(parts_->file_at.reset().bind(notebook).bind(path), read_file);
}

Result<std::vector<FileRow>> NotebookState::files(std::int64_t notebook, FileFilter which,
                                                  std::string_view after, std::size_t limit) {
  Statement& statement = parts_->files.reset().bind(notebook).bind(after);
  bind_which(statement, which);
  return all_rows(statement.bind(static_cast<std::int64_t>(limit)), read_file);
}

Result<std::vector<FileRow>> NotebookState::files_within(std::int64_t notebook, std::string_view folder,
                                                         FileFilter which) {
  Statement& statement = parts_->files_within.reset().bind(notebook).bind(folder);
  bind_which(statement, which);
  return all_rows(statement, read_file);
}

Result<FileCounts> NotebookState::counts(std::int64_t notebook) {
  const auto found = one_row(parts_->counts.reset().bind(notebook), [](const Statement& row) {
    return FileCounts{.files = row.integer(0), .folders = row.integer(1), .bytes = row.integer(2)};
  });
  if (!found) return found.error();
  return found->value_or(FileCounts{});
}

Result<std::int64_t> NotebookState::put_file(std::int64_t notebook, const FileRow& row) {
  std::int64_t id = row.id;
  auto done = parts_->atomically([&] { return parts_->put(notebook, row, id); });
  if (!done) return done.error();
  return id;
}

// Everything that can be refused comes before the first change that is made.
Result<void> NotebookState::Parts::put(std::int64_t notebook, const FileRow& row, std::int64_t& id) {
  std::vector<std::string> missing;
  for (std::string& folder : folders_of(row.path)) {
    const auto found = one_row(file_at.reset().bind(notebook).bind(folder), read_file);
    if (!found) return found.error();
    if (!*found) {
      missing.push_back(std::move(folder));
    } else if (!(*found)->folder || (*found)->id == row.id) {
      return Error{ErrorCode::conflict, row.path + " cannot lie in " + folder + ", which is no other folder.",
                   "path"};
    }
  }
  Statement& statement = bind_file(row.id == 0 ? insert_file : update_file, notebook, row);
  const auto changed = row.id == 0 ? statement.run() : statement.bind(row.id).run();
  if (!changed) return changed.error();
  if (*changed == 0) {
    const auto there = one_row(file.reset().bind(notebook).bind(row.id), read_file);
    if (!there) return there.error();
    if (row.id == 0 || *there) return taken("file or folder", row.path, "path");
    return Error{ErrorCode::not_found, "There is no file " + std::to_string(row.id) + " any more.", ""};
  }
  if (row.id == 0) id = sqlite3_last_insert_rowid(connection.handle());
  for (const std::string& folder : missing) {
    const FileRow made{
        .folder = true, .path = folder, .updated_at = row.updated_at, .event_id = row.event_id};
    if (auto done = finish(bind_file(insert_file, notebook, made)); !done) return done;
  }
  return {};
}

Result<void> NotebookState::remove_file(std::int64_t notebook, std::int64_t id) {
  return parts_->atomically([&] { return finish(parts_->remove_file.reset().bind(notebook).bind(id)); });
}

Result<void> NotebookState::add_steps(std::int64_t notebook, const std::vector<JournalStep>& steps) {
  return parts_->atomically([&]() -> Result<void> {
    for (const JournalStep& step : steps) {
      Statement& statement = parts_->add_step.reset()
                                 .bind(notebook)
                                 .bind(static_cast<std::int64_t>(step.kind))
                                 .bind(step.from)
                                 .bind(step.to);
      bind_file_state(statement, step.what);
      if (auto done = finish(statement); !done) return done;
    }
    return {};
  });
}

Result<std::vector<JournalStep>> NotebookState::steps(std::int64_t notebook) {
  return all_rows(parts_->steps.reset().bind(notebook), [](const Statement& row) {
    return JournalStep{.kind = static_cast<StepKind>(row.integer(0)),
                       .from = std::string(row.text(1)),
                       .to = std::string(row.text(2)),
                       .what = read_file_state(row, 3)};
  });
}

Result<void> NotebookState::clear_steps(std::int64_t notebook) {
  return parts_->atomically([&] { return finish(parts_->clear_steps.reset().bind(notebook)); });
}

Result<void> NotebookState::add_applied(std::int64_t notebook, EventId event) {
  return parts_->atomically([&] {
    return finish(parts_->add_applied.reset().bind(notebook).bind(static_cast<std::int64_t>(event)));
  });
}

Result<std::vector<EventId>> NotebookState::applied(std::int64_t notebook) {
  return all_rows(parts_->applied.reset().bind(notebook),
                  [](const Statement& row) { return EventId{row.integer(0)}; });
}

Result<void> NotebookState::forget_applied(std::int64_t notebook, const std::vector<EventId>& events) {
  return parts_->atomically([&]() -> Result<void> {
    for (const EventId event : events) {
      auto done =
          finish(parts_->forget_applied.reset().bind(notebook).bind(static_cast<std::int64_t>(event)));
      if (!done) return done;
    }
    return {};
  });
}

Result<void> NotebookState::add_pending(std::int64_t notebook, const PendingChange& change) {
  return parts_->atomically([&] {
    return finish(parts_->add_pending.reset()
                      .bind(notebook)
                      .bind(change.path)
                      .bind(change.event_id)
                      .bind(change.correlation_id)
                      .bind(millis_of(change.since)));
  });
}

Result<void> NotebookState::add_all_pending(std::int64_t notebook,
                                            const std::vector<PendingChange>& changes) {
  return parts_->atomically([&]() -> Result<void> {
    for (const PendingChange& change : changes) {
      if (auto done = add_pending(notebook, change); !done) return done;
    }
    return {};
  });
}

Result<std::vector<PendingChange>> NotebookState::pending(std::int64_t notebook) {
  return all_rows(parts_->pending.reset().bind(notebook), [](const Statement& row) {
    return PendingChange{.number = row.integer(0),
                         .path = std::string(row.text(1)),
                         .event_id = std::string(row.text(2)),
                         .correlation_id = std::string(row.text(3)),
                         .since = time_point(row.integer(4))};
  });
}

Result<CommitBacklog> NotebookState::waiting(std::int64_t notebook) {
  const auto found = one_row(parts_->waiting.reset().bind(notebook), [](const Statement& row) {
    CommitBacklog waiting{.paths = row.integer(0)};
    if (const auto since = row.optional_integer(1)) waiting.since = time_point(*since);
    return waiting;
  });
  if (!found) return found.error();
  return found->value_or(CommitBacklog{});
}

Result<void> NotebookState::set_git_marks(std::int64_t notebook, const GitMarks& marks,
                                          const std::vector<PendingChange>& changes) {
  return parts_->atomically([&]() -> Result<void> {
    if (auto done = add_all_pending(notebook, changes); !done) return done;
    return finish(parts_->set_git_marks.reset().bind(notebook).bind(marks.head).bind(marks.index));
  });
}

Result<GitMarks> NotebookState::git_marks(std::int64_t notebook) {
  const auto found = one_row(parts_->git_marks.reset().bind(notebook), [](const Statement& row) {
    return GitMarks{.head = row.optional_text(0), .index = row.optional_text(1)};
  });
  if (!found) return found.error();
  return found->value_or(GitMarks{});
}

Result<void> NotebookState::add_commit(std::int64_t notebook, const CommitRow& row, std::int64_t last,
                                       const GitMarks& marks, const std::vector<PendingChange>& again) {
  return parts_->atomically([&]() -> Result<void> {
    auto done = finish(parts_->drop_pending.reset().bind(notebook).bind(last));
    if (done) done = set_git_marks(notebook, marks, again);
    if (!done || row.hash.empty()) return done;
    done = finish(parts_->add_commit.reset()
                      .bind(notebook)
                      .bind(row.hash)
                      .bind(row.message)
                      .bind(millis_of(row.at))
                      .bind(row.files));
    if (!done) return done;
    const std::int64_t commit = sqlite3_last_insert_rowid(parts_->connection.handle());
    std::int64_t position = 0;
    for (const std::string& event : row.event_ids) {
      done =
          finish(parts_->add_commit_event.reset().bind(commit).bind(position++).bind(notebook).bind(event));
      if (!done) return done;
    }
    return {};
  });
}

Result<std::vector<CommitRow>> NotebookState::commits(std::int64_t notebook, std::size_t limit) {
  std::vector<CommitRow> found;
  std::int64_t commit = 0;  // of the row before
  Statement& statement = parts_->commits.reset().bind(notebook).bind(static_cast<std::int64_t>(limit));
  const auto read = all_rows(statement, [&](const Statement& row) {
    if (std::exchange(commit, row.integer(0)) != row.integer(0)) {
      found.push_back({.hash = std::string(row.text(1)),
                       .message = std::string(row.text(2)),
                       .at = time_point(row.integer(3)),
                       .files = row.integer(4)});
    }
    if (!row.is_null(5)) found.back().event_ids.emplace_back(row.text(5));
    return commit;
  });
  if (!read) return read.error();
  return found;
}

Result<std::optional<std::string>> NotebookState::commit_of(std::int64_t notebook,
                                                            std::string_view event_id) {
  return one_row(parts_->commit_of.reset().bind(notebook).bind(event_id),
                 [](const Statement& row) { return std::string(row.text(0)); });
}

}  // namespace eventq::notebook
