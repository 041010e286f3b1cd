// notebook.h: one notebook: a folder whose changes all go through a queue.
//
// src/notebook/ holds what turns a folder into a notebook: files/ (paths and file access), state/ (the SQLite
// file), publish/ (requests to events), apply/ (events to files), git/ (commits), watch/ (changes by other
// programs), api/ (HTTP), and here the parts that join them. The queue itself is in engine/.
//
// A change passes through: submit() -> OperationPublisher stores an event of the queue `notebook:NAME` and
// answers -> NotebookWorker claims it -> Applier changes the files and rows -> GitRepo commits them later, in
// batches. The FolderWatcher reports changes by other programs; change detection publishes them as sync
// events.
//
// Threads: the public methods may be called from any thread. All notebooks share a pool. One pool thread at a
// time publishes the submissions that gathered during the last publication. The worker runs on a strand, so
// on one pool thread at a time. The watcher and the Digests have their own threads.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/steady.h"
#include "engine/engine.h"
#include "notebook/files/digests.h"
#include "notebook/files/folder.h"
#include "notebook/files/own_writes.h"
#include "notebook/git/git_ignores.h"
#include "notebook/git/git_repo.h"
#include "notebook/notebook_worker.h"
#include "notebook/publish/change_request.h"
#include "notebook/publish/operation_publisher.h"
#include "notebook/state/notebook_state.h"
#include "notebook/watch/change_detection.h"
#include "notebook/watch/folder_watcher.h"

namespace eventq::notebook {

struct NotebookStatus {
  NotebookRow row;
  FileCounts counts;
  CommitBacklog waiting;  // for a commit
  std::optional<CommitRow> last_commit;
  WorkerStatus worker;
  WatcherStats watcher;
  std::string watcher_trouble;
  std::vector<UncommittedFiles> not_committed;  // files that no commit takes, by reason
  FileTroubles files;
};

struct FileContent {
  FileRow file;
  std::string bytes;
};

class Notebook : public std::enable_shared_from_this<Notebook> {
 public:
  struct NotebookContext {
    boost::asio::thread_pool& pool;
    Engine& engine;
    std::string state;  // the path of the SQLite file
    mode_t mask = 0;
    const Clock& clock;
    Logger logger;
  };

  // For Notebooks only. open() creates the queue and the repository if they do not exist, and recovers after
  // a crash. start() starts the watcher and the worker. stop() refuses new submissions, finishes running
  // operations and commits pending changes; no thread runs in this object after it returns.
  static Result<std::shared_ptr<Notebook>> open(const NotebookContext& context, const NotebookRow& row);
  Result<void> start();
  void stop();

  // Returns at once; `reply` runs on a thread of the pool.
  // Errors: invalid_argument, too_large; not_found for an unknown id; conflict for a path that exists or an
  // operation that a folder does not support; errors of the queue.
  void submit(ChangeRequest request, ChangeReply reply);

  // The following methods read the disk.
  Result<NotebookStatus> status();
  Result<std::vector<FileRow>> files(FileFilter which, const std::string& after, std::size_t limit);
  Result<std::vector<FileRow>> files_in(const NotebookState::FolderListing& listing, FileFilter which,
                                        const std::string& after, std::size_t limit);
  Result<FileRow> file(std::int64_t id);             // not_found
  Result<FileRow> file_at(const std::string& path);  // not_found
  Result<FileContent> content(std::int64_t id);      // not_found, too_large (over 64 MiB)
  // Newest first; with an `event_id` only the commit that contains the changes of that event.
  Result<std::vector<CommitRow>> commits(std::size_t limit, const std::string& event_id);
  // Compares all files with their rows and publishes the differences; returns their number.
  Result<std::size_t> rescan();

  [[nodiscard]] const std::string& name() const { return row_.name; }

 private:
  struct StateConnections {
    NotebookState publisher;
    NotebookState worker;
    NotebookState detection;
    NotebookState reader;
  };
  Notebook(const NotebookContext& context, NotebookRow row, Folder folder, Descriptor lock, GitRepo repo,
           GitIgnores ignores, StateConnections states);
  static Result<StateConnections> open_states(const std::string& path);

  [[nodiscard]] std::string why_changes_wait();
  void publish_submissions();
  void work();
  void hint();
  [[nodiscard]] bool is_time_to_rescan();
  void on_touched(const std::vector<TouchedPath>& touched);
  void on_rescan(const std::string& reason);
  [[nodiscard]] DetectionInput detection_input();
  Result<std::size_t> publish_detected(Result<std::vector<Operation>> changes);
  Result<std::size_t> note_detected(const Result<std::size_t>& found);
  Result<std::size_t> import();
  void pack_after_commits();
  void pack();

  using Strand = boost::asio::strand<boost::asio::thread_pool::executor_type>;

  // Set by open(), never changed.
  NotebookContext context_;
  const NotebookRow row_;
  const std::string queue_;
  Folder folder_;
  Digests digests_;
  const Descriptor lock_;
  GitRepo repo_;
  OwnWrites own_writes_;
  SharedPendingOperations pending_operations_;
  NotebookState worker_state_;
  NotebookWorker worker_;
  Strand working_;
  boost::asio::steady_timer timer_;  // on working_

  std::mutex publisher_mutex_;
  OperationPublisher publisher_;

  std::mutex submissions_mutex_;
  std::vector<OperationPublisher::ChangeSubmission> submissions_;
  bool is_publishing_ = false;
  bool closed_ = false;

  std::mutex detection_mutex_;  // held during change detection and the publication of its result
  NotebookState detection_state_;
  GitIgnores ignores_;

  std::atomic<bool> imported_;        // until then the worker waits
  std::atomic<bool> hinted_ = false;  // a run of the worker has been posted

  std::mutex watcher_mutex_;
  std::unique_ptr<FolderWatcher> watcher_;
  std::string detection_error_;          // the error of the last change detection
  std::optional<SteadyTime> rescan_at_;  // when change detection is retried after an error

  std::mutex packing_mutex_;          // held while loose objects are packed
  std::uint64_t packed_commits_ = 0;  // on working_: the commits after which packing was considered

  std::mutex reader_mutex_;
  NotebookState reader_state_;

  bool stopping_ = false;  // on working_
};

}  // namespace eventq::notebook
