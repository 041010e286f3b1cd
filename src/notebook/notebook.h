// notebook.h: the interface of one notebook: a folder whose changes all go through a queue.
//
// src/notebook/ holds what turns a folder into a notebook: files/ (paths and file access), state/ (the SQLite
// file), apply/ (events to files), git/ (commits), watch/ (changes by other programs), api/ (HTTP), and here
// the parts that join them. The queue itself is in engine/.
//
// A change passes through: submit() -> OperationPublisher stores an event of the queue `notebook:NAME` and
// answers -> NotebookWorker claims it -> Applier changes the files and rows -> GitRepo commits them later, in
// batches. The FolderWatcher reports changes by other programs; change detection publishes them as sync
// events.
//
// Threads: every method may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "notebook/notebook_settings.h"
#include "notebook/operation.h"
#include "notebook/state/notebook_state.h"
#include "notebook/watch/folder_watcher.h"

namespace eventq::notebook {

// A change that a caller requests.
struct ChangeRequest {
  OperationKind kind{};                // create, update, move, remove; batch_commit: commit pending changes
  std::string path;                    // create
  std::int64_t file = 0;               // update, move, remove: the file's or folder's id
  std::string dest_path;               // move
  std::optional<std::string> content;  // create, update
  Metadata metadata;                   // create, update
  bool folder = false;                 // create
};

// The stored request: one event, or one event per file with the same correlation id.
struct Accepted {
  Event event;       // the only event, or the first of the group
  std::string path;  // the future path of the file or folder
  bool group = false;
  std::string correlation_id;  // of a group
  int file_count = 0;          // of a group: the files in the folder
};

struct NotebookStatus {
  NotebookRow row;
  FileCounts counts;
  CommitBacklog waiting;  // for a commit
  std::optional<CommitRow> last_commit;
  std::uint64_t commits = 0;  // since the start
  std::uint64_t committed_files = 0;
  std::string commit_trouble;  // the error of the last commit; empty: none
  std::string worker_trouble;  // why the worker is stalled; empty: it is not
  WatcherStats watcher;
  std::string watcher_trouble;
};

struct FileContent {
  FileRow file;
  std::string bytes;
};

class Notebook {
 public:
  virtual ~Notebook() = default;

  // Returns at once; `reply` runs on a thread of the pool.
  // Errors: invalid_argument, too_large; not_found for an unknown id; conflict for a path that exists or an
  // operation that a folder does not support; errors of the queue.
  using Reply = std::function<void(Result<Accepted>)>;
  virtual void submit(ChangeRequest request, Reply reply) = 0;

  // The following methods read the disk.
  virtual Result<NotebookStatus> status() = 0;
  virtual Result<std::vector<FileRow>> files(FileFilter which, const std::string& after,
                                             std::size_t limit) = 0;
  virtual Result<FileRow> file(std::int64_t id) = 0;             // not_found
  virtual Result<FileRow> file_at(const std::string& path) = 0;  // not_found
  virtual Result<FileContent> content(std::int64_t id) = 0;      // not_found, too_large (over 64 MiB)
  // Newest first; with an `event_id` only the commit that contains the changes of that event.
  virtual Result<std::vector<CommitRow>> commits(std::size_t limit, const std::string& event_id) = 0;
  // Compares all files with their rows and publishes the differences; returns their number.
  virtual Result<std::size_t> rescan() = 0;

  [[nodiscard]] virtual const std::string& name() const = 0;
};

}  // namespace eventq::notebook
