// notebook_worker.h: claims a notebook's events in order, applies them, reports the outcomes and commits to
// git.
//
// There is one worker per notebook, so the order of ids is the order of the changes. A transient failure
// blocks all later events until its retry; a permanent one fails its event at once.
//
// Threads: recover(), run_once() and finish() on one thread at a time; status() on any.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/options.h"
#include "notebook/apply/applier.h"
#include "notebook/git/git_repo.h"
#include "notebook/notebook_settings.h"
#include "notebook/publish/operation_publisher.h"
#include "notebook/state/notebook_state.h"

namespace eventq::notebook {

struct WorkerStatus {
  std::uint64_t commits = 0;  // since the start
  std::uint64_t committed_files = 0;
  std::string commit_trouble;  // the error of the last commit; empty: none
  std::string worker_trouble;  // why the worker is stalled; empty: it is not
};

class NotebookWorker {
 public:
  struct WorkerContext {
    Engine& engine;
    SharedPendingOperations& pending_operations;
    Folder& folder;
    Digests& digests;
    NotebookState& state;
    OwnWrites& own_writes;
    GitRepo& repo;
    const Clock& clock;
    Logger logger;
  };
  NotebookWorker(WorkerContext context, const NotebookRow& row, std::string queue);

  // Undoes unfinished steps of the last process and releases the events that it held.
  Result<void> recover();
  // Learns which paths wait for a commit with content that may be another program's. Call it after recover()
  // and after an import, which records such content.
  Result<void> note_uncommitted();

  // Reports, claims and applies once; commits if a commit is due. Returns how long the caller may wait before
  // the next call.
  Millis run_once();

  // Reports finished events, releases the others, and commits pending changes if `may_commit`.
  void finish(bool may_commit);

  // Does nothing and stores `why` as the error; returns how long the caller may wait before the next call.
  Millis wait_because(const std::string& why);

  [[nodiscard]] WorkerStatus status() const;

 private:
  enum class Take : bool { no, yes };
  Result<void> exchange(Take take);
  void take_answer(EventId id, const Result<Changed>& changed);
  void take_claim(const Event& event);
  [[nodiscard]] bool must_wait();
  Result<void> give_back_held();
  Result<void> find_retried();
  void take_back_foreign();
  Result<void> store_last_commit();
  Result<void> store_commit(CommitRow row, const std::vector<PendingChange>& changes,
                            const std::vector<PendingChange>& again, std::int64_t last);
  void work();
  [[nodiscard]] bool is_torn(std::size_t from);
  [[nodiscard]] bool is_paused();
  std::size_t work_on_run(std::size_t from);
  [[nodiscard]] std::optional<ApplyUnit> unit_at(std::size_t from) const;
  void report(const ApplyUnit& unit, const ApplyOutcome& outcome);
  void release_blocked(TimePoint until);
  void release_claimed(const std::string& why);
  void apply_units(std::vector<ApplyUnit> units, int tries = 0);
  Result<SafeToReplace> commit_foreign_content(const std::vector<ApplyUnit>& units);
  Result<std::string> own_content(const std::string& path, const FileState& there);
  void note_foreign_content(const ApplyUnit& unit);
  Result<void> commit(const SafeToReplace& as_they_are = {});
  Result<void> make_commit(const SafeToReplace& as_they_are);
  Result<void> store_made(const GitCommit& made, std::string message,
                          const std::vector<PendingChange>& changes, const std::vector<PendingChange>& again);
  Result<void> note_filtered(const GitCommit& made, const std::vector<std::string>& paths);
  Result<void> compare_filtered();
  static std::set<std::string> overdue(const std::vector<PendingChange>& changes, TimePoint now);
  std::optional<std::string> large_blob(const std::string& path, const FileState& state);
  Result<void> leave_too_large(std::vector<std::string>& paths);
  Result<KnownFiles> known_files(const std::vector<std::string>& paths, const SafeToReplace& as_they_are);
  Error commit_failed(const Error& why);
  Result<std::optional<TrailedCommit>> find_commit(const std::vector<PendingChange>& changes);
  Result<void> check_head();
  Result<void> find_gone_links();
  Result<bool> may_differ(const std::string& path);
  [[nodiscard]] bool is_absent(const std::string& path) const;
  void commit_if_time();
  void forget_reported();
  void note_trouble(std::string& trouble, const std::string& message);

  WorkerContext context_;
  const std::int64_t notebook_;
  const NotebookSettings settings_;
  const std::string queue_;
  const std::string worker_id_;
  Applier applier_;

  std::vector<FileEvent> claimed_;       // claimed and not yet applied, in order
  bool came_up_empty_ = false;           // the last claim returned no event
  std::vector<eventq::Change> reports_;  // sent with the next claim
  std::set<EventId> applied_;            // applied, and perhaps not yet reported
  std::vector<EventId> reported_;        // applied and reported; their rows in `applied` can be removed
  std::optional<EventId> blocked_by_;    // failed; its retry comes before all other events
  TimePoint blocked_until_;
  std::set<std::string> uncommitted_foreign_;  // paths with uncommitted content of another program
  TimePoint commit_again_at_;  // no commit before this time, after a commit that failed or left paths out
  std::optional<TimePoint> head_checked_at_;
  std::optional<TimePoint> foreign_checked_at_;

  mutable std::mutex status_mutex_;
  WorkerStatus status_;
};

}  // namespace eventq::notebook
