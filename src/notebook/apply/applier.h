// applier.h: applies events to the files of a notebook and to its NotebookState, each unit completely or not
// at all.
//
// apply/ turns operations into steps on disk. Detecting changes (watch/) and committing (git/) do not belong
// here.
//
// apply() first plans every unit (apply_plan.cc): it writes new content to kOwnFolder and lists the steps:
// make a folder, rename, exchange, remove a folder. It stores all steps in the journal of the NotebookState
// and syncs, then runs them. One transaction then stores the new rows and clears the journal. If the process
// dies in between, recover() undoes the journaled steps in reverse order, so the events can be applied again.
//
// Threads: an Applier belongs to one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/event.h"
#include "notebook/files/digests.h"
#include "notebook/files/folder.h"
#include "notebook/files/own_writes.h"
#include "notebook/operation.h"
#include "notebook/publish/pending_operations.h"
#include "notebook/state/notebook_state.h"

namespace eventq::notebook {

struct FileEvent {
  EventId id{};
  int attempt = 0;
  std::string event_id;
  std::string correlation_id;
  Operation operation;
};

// One event, or all events of a folder operation.
using ApplyUnit = std::vector<FileEvent>;

enum class OutcomeKind : std::uint8_t {
  done,
  failed,  // a retry would not help
  retry,
};

struct ApplyOutcome {
  OutcomeKind kind{};
  std::string message;
  std::optional<int> status_code = {};  // for the report on the event
};

// A file that may be replaced in exactly this state, because the content is eventq's own or is in a commit.
// With a hash it may also be replaced in another state if it has that content: a program only touched it.
struct SafeFile {
  SafeFile(FileState in_state, std::string with_hash = {}) : state(in_state), hash(std::move(with_hash)) {}
  FileState state;
  std::string hash;
};
using SafeToReplace = std::map<std::string, SafeFile>;

// The file in kOwnFolder that holds the new content of an event before it is renamed, and the event of such a
// file.
std::string own_path(EventId event);
std::optional<EventId> event_of_own(std::string_view path);

// The steps of one unit and the rows to store after them.
struct ApplyPlan {
  std::vector<EventId> events;  // of the unit
  std::vector<JournalStep> steps;
  std::vector<std::string> own;  // files in kOwnFolder to delete at the end
  std::vector<FileRow> put;
  std::vector<std::int64_t> removed;  // ids of rows
  std::vector<PendingChange> pending;
  std::vector<std::pair<std::string, std::optional<OwnWrites::WrittenContent>>> announced;
  std::optional<Error> fault;
  std::vector<std::string> written;  // files in kOwnFolder that must be synced before the journal is written
  std::set<std::string> parents;     // folders that exist or that an earlier step makes
};

class Applier {
 public:
  Applier(Folder& folder, Digests& digests, NotebookState& state, OwnWrites& own_writes,
          SharedPendingOperations& pending_operations, const NotebookRow& row, const Clock& clock)
      : folder_(folder),
        digests_(digests),
        state_(state),
        own_writes_(own_writes),
        pending_operations_(pending_operations),
        notebook_(row.id),
        deleted_retention_(row.settings.deleted_metadata_retention),
        clock_(clock) {}

  // Undoes the journaled steps of a process that died; returns how many there were. New content that another
  // program edited after it was put in place counts as applied, because undoing it would lose the edit.
  // Errors: a step could not be undone; the journal keeps it.
  Result<std::size_t> recover();

  // Applies each unit completely or not at all; returns one outcome per unit. A file to be replaced or
  // deleted that differs from its entry in `safe` stays and its unit is retried. A file without an entry is
  // replaced in any state.
  // Errors: the NotebookState cannot be written; nothing was changed.
  // REQUIRES: no two units change the same path, or paths of which one lies in the other.
  Result<std::vector<ApplyOutcome>> apply(std::span<const ApplyUnit> units, const SafeToReplace& safe = {});

 private:
  ApplyPlan plan(const ApplyUnit& unit);
  Result<void> plan_one(const FileEvent& event, ApplyPlan& plan);
  Result<void> plan_create(const FileEvent& event, ApplyPlan& plan);
  Result<void> plan_update(const FileEvent& event, ApplyPlan& plan);
  Result<void> plan_move(const FileEvent& event, ApplyPlan& plan);
  Result<void> plan_remove(const FileEvent& event, ApplyPlan& plan);
  Result<void> plan_sync(const FileEvent& event, ApplyPlan& plan);
  Result<std::optional<FileRow>> plan_renamed(const FileEvent& event, const Digest* content, ApplyPlan& plan);
  Result<std::optional<FileRow>> plan_returning(const FileEvent& event, const Digest& digest,
                                                ApplyPlan& plan);
  Result<void> plan_folder(const ApplyUnit& unit, ApplyPlan& plan);
  Result<void> check_version(const Operation& operation, const std::string& path);
  Result<void> plan_parents(const std::string& path, ApplyPlan& plan);
  Result<void> plan_vanished_folders(const std::string& path, ApplyPlan& plan);
  Result<FileRow> known(const std::string& path, const FileEvent& event);
  Result<FileRow> write(const FileEvent& event, const std::string& like, FileRow row, ApplyPlan& plan);
  void will_change(const std::string& path, const FileEvent& event, ApplyPlan& plan);

  Result<void> store_steps(const ApplyPlan& all);
  Result<void> execute(const std::vector<JournalStep>& steps);
  Result<void> execute(const JournalStep& step);
  [[nodiscard]] bool has_content(const std::string& path, const std::string& hash) const;
  Result<void> move_aside(const JournalStep& step, const std::string& taken, Folder::Rename how);
  Result<void> undo(std::span<const JournalStep> steps);
  Result<void> undo(const JournalStep& step);
  Result<void> keep_edited(const std::vector<JournalStep>& steps);
  Result<void> execute_plans(std::vector<ApplyPlan>& plans);
  Result<void> sync_folders(const std::vector<JournalStep>& steps);
  Result<void> store_results(const ApplyPlan& all);

  Folder& folder_;
  Digests& digests_;
  NotebookState& state_;
  OwnWrites& own_writes_;
  SharedPendingOperations& pending_operations_;
  const std::int64_t notebook_;
  const std::chrono::seconds deleted_retention_;
  const Clock& clock_;
  bool must_recover_ = false;        // a step could not be undone
  SafeToReplace safe_;               // set for the duration of apply(), as the next
  std::set<std::int64_t> returned_;  // ids that files got back
};

}  // namespace eventq::notebook
