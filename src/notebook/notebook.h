// notebook.h: one folder whose changes all go through the queue: what can be asked of it.
//
// Changes are published as events of the queue `notebook:NAME` and answered as soon as they are on disk
// there; one worker applies them in order. Changes made beside the queue are found by a watcher and become
// events, too.
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

// A change that somebody asks for.
struct ChangeRequest {
  OperationKind kind{};                // create, update, move or remove; batch_commit: commit what waits
  std::string path;                    // create
  std::int64_t file = 0;               // update, move, remove: the file's or folder's id
  std::string dest_path;               // move
  std::optional<std::string> content;  // create, update
  Metadata metadata;                   // create, update
  bool folder = false;                 // create
};

// What became of it: an event, or one per file with the same correlation id.
struct Accepted {
  Event event;       // the only or the first one
  std::string path;  // where the file or folder is to be
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
  std::string commit_trouble;  // why the last commit could not be made; empty: it could
  std::string worker_trouble;  // why the worker waits; empty: it does not
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

  // Does not wait; the reply comes on a thread of the pool. Errors: invalid_argument, too_large; not_found
  // for an id that is not, or no more; conflict for a path that is taken, or something that cannot be done to
  // a folder; what the queue answers.
  using Reply = std::function<void(Result<Accepted>)>;
  virtual void submit(ChangeRequest request, Reply reply) = 0;

  // These read the disk.
  virtual Result<NotebookStatus> status() = 0;
  virtual Result<std::vector<FileRow>> files(FileFilter which, const std::string& after,
                                             std::size_t limit) = 0;
  virtual Result<FileRow> file(std::int64_t id) = 0;             // not_found
  virtual Result<FileRow> file_at(const std::string& path) = 0;  // not_found
  virtual Result<FileContent> content(std::int64_t id) = 0;      // not_found, too_large (over 64 MiB)
  // Newest first; with an `event_id` only the one that its changes are in.
  virtual Result<std::vector<CommitRow>> commits(std::size_t limit, const std::string& event_id) = 0;
  // Compares everything with what is known and publishes the differences; how many.
  virtual Result<std::size_t> rescan() = 0;

  [[nodiscard]] virtual const std::string& name() const = 0;
};

}  // namespace eventq::notebook
