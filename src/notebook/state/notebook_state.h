// notebook_state.h: the stored state of all notebooks: settings, rows of files, the journal, pending changes,
// commits.
//
// state/ is the only folder that knows SQL. It holds no rules: callers decide what to store. One SQLite file
// for all notebooks (schema.sql), synced at every commit. Ids of files are never reused.
//
// A call binds its arguments to a statement that StateConnection prepared at open(). A write outside of
// begin() and commit() is a transaction of its own.
//
// Threads: a NotebookState belongs to one thread at a time; open one per thread. Concurrent writers wait for
// each other.
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
  bool imported = false;  // the files that the folder began with are recorded
};

struct FileRow {
  std::int64_t id = 0;        // 0: not stored yet
  std::int64_t reserved = 0;  // not stored yet: the id from reserve_file() that it gets; 0: any
  bool folder = false;        // a folder has an id and a path, nothing else
  std::string path;
  FileState state;
  std::string hash;
  std::string content_type;
  Metadata metadata;
  TimePoint updated_at;
  std::string event_id;  // the last event that changed it
  std::string git;       // why git does not have its content, such as kGitFiltered; empty: no reason known
};

inline constexpr const char* kGitFiltered = "filtered";

// The files with one reason in FileRow::git.
struct UncommittedFiles {
  std::string git;
  std::int64_t count = 0;
  std::vector<std::string> paths;  // the first ones
};

// A step of a running operation, and how recover() undoes it.
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
  FileState what;  // rename, exchange: the file at `from` before the step
  // exchange: the only state in which the file at `to` may be replaced; empty: any. Not stored.
  std::optional<FileState> replaced = {};
  std::string content =
      {};  // the hash of content that may be taken away in any state; empty: none. Not stored.
};

struct PendingChange {
  std::int64_t number = 0;  // increases with each change
  std::string path;
  std::string event_id;  // empty: no event; a user commit changed the path, which must be compared
  std::string correlation_id;
  TimePoint since;
};

struct CommitRow {
  std::string hash;
  std::string message;  // the first line
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

// Summary of the changes that no commit contains yet.
struct CommitBacklog {
  std::int64_t paths = 0;
  std::optional<TimePoint> since;  // time of the oldest change
};

class StateConnection;

class NotebookState {
 public:
  // Creates the file when absent. Errors: unavailable; corrupt for a file of another program or of a newer
  // eventq.
  static Result<NotebookState> open(const std::string& path);
  NotebookState(NotebookState&&) noexcept;
  ~NotebookState();

  // All calls between begin() and commit() are one transaction. The next begin(), or rollback(), rolls back
  // an open one.
  // Errors of commit(): unknown_outcome when the transaction may or may not be on disk.
  Result<void> begin();
  Result<void> commit();
  void rollback();

  // Notebooks. Errors of add_notebook(): conflict when the name or path is in use.
  Result<NotebookRow> add_notebook(const NotebookRow& row);
  Result<std::vector<NotebookRow>> notebooks();
  Result<void> remove_notebook(std::int64_t id);  // REQUIRES: it has no files, steps, changes or commits

  // Files. `notebook` is NotebookRow::id.
  Result<std::optional<FileRow>> file(std::int64_t notebook, std::int64_t id);
  Result<std::optional<FileRow>> file_at(std::int64_t notebook, std::string_view path);
  // Ordered by the bytes of the path, after `after`.
  Result<std::vector<FileRow>> files(std::int64_t notebook, FileFilter filter, std::string_view after,
                                     std::size_t limit);
  // The same for the rows in `folder` ("": the notebook's), directly or at any depth.
  struct FolderListing {
    std::string folder;
    bool recursive = false;
  };
  Result<std::vector<FileRow>> files_in(std::int64_t notebook, const FolderListing& listing,
                                        FileFilter filter, std::string_view after, std::size_t limit);
  // The rows in `folder` at any depth, without the folder itself, ordered by path.
  Result<std::vector<FileRow>> files_within(std::int64_t notebook, std::string_view folder,
                                            FileFilter filter);
  // Another path that equals this one if the case of letters is ignored.
  Result<std::optional<std::string>> path_like(std::int64_t notebook, std::string_view path);
  Result<FileCounts> counts(std::int64_t notebook);
  // An id for a file that will be stored later. Another file never gets it.
  Result<std::int64_t> reserve_file(std::int64_t notebook);
  // Inserts (id 0) or replaces by id; returns the id. A file that is gone returns with its id. Adds missing
  // rows of the folders above. A row that is inserted gets its reserved id, unless a row has got that before
  // or reserve_file() never returned it. Errors: conflict when another row has the path or a file is above
  // it; not_found for an unknown id. After an error nothing has changed.
  Result<std::int64_t> put_file(std::int64_t notebook, const FileRow& row);
  Result<void> remove_file(std::int64_t notebook, std::int64_t id);

  // Deleted files that may return. remove_to_gone() removes a row and keeps a file's; a folder's is not kept.
  Result<void> remove_to_gone(std::int64_t notebook, std::int64_t id, TimePoint now);
  // The file that was deleted last at `path`, after `since`.
  Result<std::optional<FileRow>> gone_at(std::int64_t notebook, std::string_view path, TimePoint since);
  // Files with this hash: those deleted after `since`, the last one first; and those that have rows, with
  // this inode if one is given.
  Result<std::vector<FileRow>> gone_with(std::int64_t notebook, std::string_view hash, TimePoint since,
                                         std::size_t limit);
  Result<std::vector<FileRow>> files_with(std::int64_t notebook, std::string_view hash,
                                          std::optional<std::uint64_t> inode, std::size_t limit);
  Result<void> expire_gone(std::int64_t notebook,
                           TimePoint until);  // forgets files deleted at `until` or before

  // Records files that a new notebook begins with, and the paths among them that HEAD does not have so. Skips
  // paths that have a row. `last` marks the notebook as imported.
  enum class ImportPart : bool { more_follow, last };
  Result<void> import_files(std::int64_t notebook, const std::vector<FileRow>& rows,
                            const std::vector<PendingChange>& changes, ImportPart part);

  // The journal: steps of running operations, in order.
  Result<void> add_steps(std::int64_t notebook, const std::vector<JournalStep>& steps);
  Result<std::vector<JournalStep>> steps(std::int64_t notebook);
  Result<void> clear_steps(std::int64_t notebook);

  // Applied events whose report the queue may not have received.
  Result<void> add_applied(std::int64_t notebook, EventId id);
  Result<std::vector<EventId>> applied(std::int64_t notebook);
  Result<void> forget_applied(std::int64_t notebook, const std::vector<EventId>& ids);

  // Changes that no commit contains yet. A path that several events changed occurs several times.
  Result<void> add_pending(std::int64_t notebook, const std::vector<PendingChange>& changes);
  Result<std::vector<PendingChange>> pending(std::int64_t notebook);
  Result<CommitBacklog> waiting(std::int64_t notebook);
  // Stores the marks together with the changes that they cause.
  Result<void> set_git_marks(std::int64_t notebook, const GitMarks& marks,
                             const std::vector<PendingChange>& changes = {});
  Result<GitMarks> git_marks(std::int64_t notebook);
  // Stores a commit and removes the pending changes up to number `last`. An empty hash means that there was
  // nothing to commit; then the changes are only removed. `again` has the changes that the commit left out;
  // they are stored as new pending changes.
  Result<void> add_commit(std::int64_t notebook, const CommitRow& row, std::int64_t last,
                          const GitMarks& marks = {}, const std::vector<PendingChange>& again = {});
  // FileRow::git of the files at these paths. put_file() does not change it.
  Result<void> set_git_note(std::int64_t notebook, const std::vector<std::string>& paths,
                            std::string_view note);
  // The paths of files with this note, ordered.
  Result<std::vector<std::string>> git_noted(std::int64_t notebook, std::string_view note, std::size_t limit);
  Result<std::vector<UncommittedFiles>> uncommitted(std::int64_t notebook, std::size_t paths);
  // Newest first.
  Result<std::vector<CommitRow>> commits(std::int64_t notebook, std::size_t limit);
  Result<std::optional<std::string>> commit_of(std::int64_t notebook, std::string_view event_id);

 private:
  explicit NotebookState(std::unique_ptr<StateConnection> db);

  std::unique_ptr<StateConnection> db_;
};

}  // namespace eventq::notebook
