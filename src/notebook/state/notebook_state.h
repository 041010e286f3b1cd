// notebook_state.h: what is known of notebooks: their files' metadata, what waits for a commit, what is half
// done.
//
// A SQLite file of its own (schema.sql), synced at every commit. Ids of files are never reused.
//
// Threads: a NotebookState belongs to one thread at a time; open one per user. Writers wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/event.h"
#include "notebook/files/folder.h"
#include "notebook/git/git_repo.h"
#include "notebook/notebook_settings.h"
#include "notebook/operation.h"

namespace eventq::notebook {

struct NotebookRow {
  std::int64_t id = 0;
  std::string name;
  std::string path;
  NotebookSettings settings;
  TimePoint created_at;
};

struct FileRow {
  std::int64_t id = 0;  // 0: not stored yet
  bool folder = false;  // has an id and a path, nothing else
  std::string path;
  FileState state;
  std::string hash;
  std::string content_type;
  Metadata metadata;
  TimePoint updated_at;
  std::string event_id;  // the event that made it what it is
};

// A step of an operation that is under way, and how it is undone.
enum class StepKind : std::uint8_t {
  make_folder,    // `to`; undone by removing it if it is empty
  rename,         // undone by renaming it back
  exchange,       // undone by exchanging again
  remove_folder,  // `to`, if it is empty; undone by making it
};

struct JournalStep {
  StepKind kind{};
  std::string from;
  std::string to;
  FileState what;  // of rename and exchange: the file that comes from `from`
  // Of exchange: what comes away from `to`, if it may only be this. Not stored.
  std::optional<FileState> replaced = {};
};

struct PendingChange {
  std::int64_t number = 0;  // in the order they were made
  std::string path;
  std::string event_id;  // empty: of no event, a commit of somebody else's is to be compared with the file
  std::string correlation_id;
  TimePoint since;
};

struct CommitRow {
  std::string hash;
  std::string message;  // its first line
  TimePoint at;
  std::int64_t files = 0;
  std::vector<std::string> event_ids;
};

enum class FileFilter : std::uint8_t { files, folders, all };

struct FileCounts {
  std::int64_t files = 0;
  std::int64_t folders = 0;
  std::int64_t bytes = 0;
};

// Changes that no commit has yet.
struct CommitBacklog {
  std::int64_t paths = 0;
  std::optional<TimePoint> since;  // of the oldest
};

class NotebookState {
 public:
  // Creates the file when absent. Errors: unavailable; corrupt when it is another program's or a newer
  // eventq's.
  static Result<NotebookState> open(const std::string& path);
  NotebookState(NotebookState&&) noexcept;
  ~NotebookState();

  // Everything between is one transaction; a NotebookState that is not committed is rolled back by the next
  // begin(), or by rollback(). Outside of it every call is a transaction of its own.
  Result<void> begin();
  Result<void> commit();
  void rollback();

  // Notebooks. Errors: conflict when the name or the path is taken.
  Result<NotebookRow> add_notebook(const NotebookRow& row);
  Result<std::vector<NotebookRow>> notebooks();
  Result<void> remove_notebook(std::int64_t id);  // one that has nothing yet

  // Files. `notebook` is NotebookRow::id.
  Result<std::optional<FileRow>> file(std::int64_t notebook, std::int64_t id);
  Result<std::optional<FileRow>> file_at(std::int64_t notebook, std::string_view path);
  // In the order of paths (bytes), behind `after`.
  Result<std::vector<FileRow>> files(std::int64_t notebook, FileFilter which, std::string_view after,
                                     std::size_t limit);
  // Those that lie in `folder`, at any depth, in the order of paths; the folder itself is not among them.
  Result<std::vector<FileRow>> files_within(std::int64_t notebook, std::string_view folder, FileFilter which);
  Result<FileCounts> counts(std::int64_t notebook);
  // Inserts (id 0) or replaces by id; returns the id. Rows of the folders it lies in are made if they are not
  // there.
  Result<std::int64_t> put_file(std::int64_t notebook, const FileRow& row);
  Result<void> remove_file(std::int64_t notebook, std::int64_t id);

  // Steps under way, in order.
  Result<void> add_steps(std::int64_t notebook, const std::vector<JournalStep>& steps);
  Result<std::vector<JournalStep>> steps(std::int64_t notebook);
  Result<void> clear_steps(std::int64_t notebook);

  // Events that have been applied, but whose report the queue has perhaps not got.
  Result<void> add_applied(std::int64_t notebook, EventId event);
  Result<std::vector<EventId>> applied(std::int64_t notebook);
  Result<void> forget_applied(std::int64_t notebook, const std::vector<EventId>& events);

  // What waits for a commit; a path that waits for several events is there several times.
  Result<void> add_pending(std::int64_t notebook, const PendingChange& change);
  Result<void> add_all_pending(std::int64_t notebook, const std::vector<PendingChange>& changes);
  Result<std::vector<PendingChange>> pending(std::int64_t notebook);
  Result<CommitBacklog> waiting(std::int64_t notebook);
  // HEAD was seen there, because of which these wait.
  Result<void> set_git_marks(std::int64_t notebook, const GitMarks& marks,
                             const std::vector<PendingChange>& changes = {});
  Result<GitMarks> git_marks(std::int64_t notebook);
  // What waited up to `last` is in this commit, where HEAD is seen now; without a hash: it came to nothing,
  // and is only forgotten. What it left out waits `again`.
  Result<void> add_commit(std::int64_t notebook, const CommitRow& row, std::int64_t last,
                          const GitMarks& marks = {}, const std::vector<PendingChange>& again = {});
  // Newest first.
  Result<std::vector<CommitRow>> commits(std::int64_t notebook, std::size_t limit);
  Result<std::optional<std::string>> commit_of(std::int64_t notebook, std::string_view event_id);

 private:
  struct Parts;
  explicit NotebookState(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace eventq::notebook
