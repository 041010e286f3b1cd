// worker.h: takes a notebook's events in their order, has them applied, reports, and commits to git in
// between.
//
// There is one per notebook, so the order of ids is the order of the changes. A failure that may mend itself
// holds everything behind it until its retry; one that cannot ends its event at once.
//
// Threads: recover(), turn() and wind_up() on one thread at a time; news() on any.
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
#include "notebook/apply.h"
#include "notebook/git/git_repo.h"
#include "notebook/publisher.h"
#include "notebook/settings.h"
#include "notebook/state.h"

namespace eventq::notebook {

// What a worker has to tell people.
struct WorkerNews {
  std::uint64_t commits = 0;
  std::uint64_t committed_files = 0;
  std::string commit_trouble;
  std::string worker_trouble;
};

class Worker {
 public:
  struct Tools {
    Engine& engine;
    SharedPendingOperations& live;
    Folder& folder;
    State& state;
    OwnWrites& expected;
    GitRepo& repo;
    const Clock& clock;
    Logger logger;
  };
  Worker(Tools tools, const NotebookRow& row, std::string queue);

  // Undoes what was under way, and gives back what the worker held, when the last process ended.
  Result<void> recover();

  // Takes, applies and reports once; commits if it is time. How long it may be left alone afterwards.
  Millis turn();

  // Reports what is done, gives back what is not begun, and commits what waits if it `may_commit`.
  void wind_up(bool may_commit);

  // Does nothing because of `why`; how long it may be left alone.
  Millis hold(const std::string& why);

  [[nodiscard]] WorkerNews news() const;

 private:
  enum class Take : bool { no, yes };
  Result<void> exchange(Take take);
  [[nodiscard]] bool must_wait();
  Result<void> give_back_held();
  Result<void> find_retried();
  Result<void> put_down_last_commit();
  Result<void> put_down_commit(CommitRow row, const std::vector<PendingChange>& changes,
                               const std::vector<PendingChange>& again);
  void work();
  [[nodiscard]] bool is_torn(std::size_t from);
  [[nodiscard]] bool is_paused();
  std::size_t work_on_run(std::size_t from);
  [[nodiscard]] std::optional<Part> part_at(std::size_t from) const;
  void refuse_unreadable(const Claim& claim, const Error& why);
  void settle(const Part& part, const Verdict& verdict);
  void hold_back(std::size_t from, EventId by, TimePoint until);
  [[nodiscard]] Verdict apply_commit();
  void apply_parts(std::vector<Part> parts, int tries = 0);
  Result<SafeToReplace> save_others_work(const std::vector<Part>& parts);
  Result<bool> is_others_work(const std::string& path, const FileState& there);
  void note_others_work(const Part& part);
  Result<void> commit(const SafeToReplace& as_they_are = {});
  Result<void> make_commit(const SafeToReplace& as_they_are);
  Result<KnownFiles> known_files(std::vector<std::string>& paths, const SafeToReplace& as_they_are,
                                 std::vector<std::string>& unlike);
  Error commit_failed(const Error& why);
  Result<std::optional<TrailedCommit>> find_commit(const std::vector<PendingChange>& changes);
  Result<void> look_at_head();
  Result<bool> may_differ(const std::string& path);
  [[nodiscard]] bool is_absent(const std::string& path) const;
  void commit_if_time();
  void rest();
  void forget_told();
  void note_trouble(std::string& trouble, const std::string& message);

  Tools tools_;
  const std::int64_t notebook_;
  const Settings settings_;
  const std::string queue_;
  const std::string worker_id_;
  Applier applier_;

  std::vector<FileEvent> held_;          // taken and not worked on, in order
  bool came_up_empty_ = false;           // the last claim had nothing
  std::vector<eventq::Change> reports_;  // to be made
  std::set<EventId> applied_;            // done, and perhaps not yet reported
  std::vector<EventId> told_;            // of those, reported
  std::optional<EventId> blocked_by_;    // failed, to be retried before anything else is done
  TimePoint blocked_until_;
  std::set<std::string> others_;  // paths whose uncommitted content is somebody else's
  TimePoint commit_again_at_;     // after a commit that failed, or left something out
  std::optional<TimePoint> looked_at_head_;

  mutable std::mutex news_mutex_;
  WorkerNews news_;
};

}  // namespace eventq::notebook
