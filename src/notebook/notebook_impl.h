// notebook_impl.h: runs one notebook: joins its publisher, worker, change detection and watcher.
//
// Threads: all notebooks share a pool. One pool thread at a time publishes the submissions that gathered
// during the last publication. The worker runs on a strand, so on one pool thread at a time. The watcher has
// its own thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/steady.h"
#include "engine/engine.h"
#include "notebook/files/folder.h"
#include "notebook/files/own_writes.h"
#include "notebook/git/git_repo.h"
#include "notebook/notebook.h"
#include "notebook/notebook_worker.h"
#include "notebook/operation_publisher.h"
#include "notebook/state/notebook_state.h"
#include "notebook/watch/folder_watcher.h"

namespace eventq::notebook {

class NotebookImpl final : public Notebook, public std::enable_shared_from_this<NotebookImpl> {
 public:
  struct NotebookContext {
    boost::asio::thread_pool& pool;
    Engine& engine;
    std::string state;  // the path of the SQLite file
    mode_t mask = 0;
    const Clock& clock;
    Logger logger;
  };

  // Creates the queue and the repository if they do not exist, and recovers after a crash.
  static Result<std::shared_ptr<NotebookImpl>> open(const NotebookContext& context, const NotebookRow& row);

  void submit(ChangeRequest request, Reply reply) override;
  Result<NotebookStatus> status() override;
  Result<std::vector<FileRow>> files(FileFilter which, const std::string& after, std::size_t limit) override;
  Result<FileRow> file(std::int64_t id) override;
  Result<FileRow> file_at(const std::string& path) override;
  Result<FileContent> content(std::int64_t id) override;
  Result<std::vector<CommitRow>> commits(std::size_t limit, const std::string& event_id) override;
  Result<std::size_t> rescan() override;
  [[nodiscard]] const std::string& name() const override { return row_.name; }

  // Starts the watcher and the worker.
  Result<void> start();
  // Refuses new submissions, finishes running operations and commits pending changes. No thread runs in this
  // object after it returns.
  void stop();

 private:
  struct StateConnections {
    NotebookState publisher;
    NotebookState worker;
    NotebookState detection;
    NotebookState reader;
  };
  NotebookImpl(const NotebookContext& context, NotebookRow row, Folder folder, Descriptor lock, GitRepo repo,
               StateConnections states);
  static Result<StateConnections> open_states(const std::string& path);

  void publish_submissions();
  void work();
  void hint();
  [[nodiscard]] bool is_time_to_rescan();
  void on_touched(const std::vector<TouchedPath>& touched);
  void on_rescan(const std::string& reason);
  Result<std::size_t> publish_detected(Result<std::vector<Operation>> changes);

  using Strand = boost::asio::strand<boost::asio::thread_pool::executor_type>;

  // Set by open(), never changed.
  NotebookContext context_;
  const NotebookRow row_;
  const std::string queue_;
  Folder folder_;
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

  std::atomic<bool> hinted_ = false;  // a run of the worker has been posted

  std::mutex watcher_mutex_;
  std::unique_ptr<FolderWatcher> watcher_;
  std::string detection_error_;          // the error of the last change detection
  std::optional<SteadyTime> rescan_at_;  // when change detection is retried after an error

  std::mutex reader_mutex_;
  NotebookState reader_state_;

  bool stopping_ = false;  // on working_
};

}  // namespace eventq::notebook
