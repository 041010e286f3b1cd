// applier.h: events become changes of files and of what is known of them, all or nothing.
//
// What is to be written is written beside the files first. Then every step (make a folder, rename, exchange)
// is put down in the NotebookState, then done, then what it means is put down with the steps taken out again.
// Whatever ends the process in between, recover() undoes the steps that are still put down, in reverse.
//
// Threads: an Applier belongs to one thread at a time.
#pragma once

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
#include "notebook/files/folder.h"
#include "notebook/files/own_writes.h"
#include "notebook/operation.h"
#include "notebook/pending_operations.h"
#include "notebook/state/notebook_state.h"

namespace eventq::notebook {

struct FileEvent {
  EventId id{};
  int attempt = 0;
  std::string event_id;
  std::string correlation_id;
  Operation operation;
};

// One event, or all of a folder's operation.
using ApplyUnit = std::vector<FileEvent>;

enum class OutcomeKind : std::uint8_t {
  done,
  failed,  // a retry would not help
  retry,
};

struct ApplyOutcome {
  OutcomeKind kind{};
  std::string message;
};

// Files whose content, as it is then, is known to be ours or is in a commit.
using SafeToReplace = std::map<std::string, FileState>;

// Where the new content of an event waits, and whose a file there is.
std::string own_path(EventId event);
std::optional<EventId> event_of_own(std::string_view path);

// What one unit comes to.
struct ApplyPlan {
  std::vector<JournalStep> steps;
  std::vector<std::string> own;  // files of ours that are gone in the end
  std::vector<FileRow> put;
  std::vector<FileRow> removed;
  std::vector<PendingChange> pending;
  std::vector<std::pair<std::string, std::optional<OwnWrites::WrittenContent>>> announced;
  std::optional<Error> fault;
  std::vector<std::string> written;  // files of ours with new content
  std::set<std::string> parents;     // folders that are there, or will be
};

class Applier {
 public:
  Applier(Folder& folder, NotebookState& state, OwnWrites& own_writes,
          SharedPendingOperations& pending_operations, std::int64_t notebook, const Clock& clock)
      : folder_(folder),
        state_(state),
        own_writes_(own_writes),
        pending_operations_(pending_operations),
        notebook_(notebook),
        clock_(clock) {}

  // Undoes what was under way when the last process ended; how many steps that were. What was put in place
  // and then written to by somebody else counts as applied. Errors: something could not be undone, and is
  // still put down.
  Result<std::size_t> recover();

  // Does each unit whole or not at all; an outcome each. A file that is to be replaced or deleted and is not
  // as in `safe` any more stays; what is not there is taken as it is found. Errors: the NotebookState cannot
  // be written, and nothing was done. REQUIRES: no two units change the same path, or one that lies in the
  // other.
  Result<std::vector<ApplyOutcome>> apply(std::span<const ApplyUnit> units, const SafeToReplace& safe = {});

 private:
  ApplyPlan plan(const ApplyUnit& unit);
  Result<void> plan_one(const FileEvent& event, ApplyPlan& plan);
  Result<void> plan_create(const FileEvent& event, ApplyPlan& plan);
  Result<void> plan_update(const FileEvent& event, ApplyPlan& plan);
  Result<void> plan_move(const FileEvent& event, ApplyPlan& plan);
  Result<void> plan_remove(const FileEvent& event, ApplyPlan& plan);
  Result<void> plan_sync(const FileEvent& event, ApplyPlan& plan);
  Result<void> plan_folder(const ApplyUnit& unit, ApplyPlan& plan);
  Result<void> plan_parents(const std::string& path, ApplyPlan& plan);
  Result<void> plan_vanished_folders(const std::string& path, ApplyPlan& plan);
  Result<FileRow> known(const std::string& path, const FileEvent& event);
  Result<FileRow> write(const FileEvent& event, const std::string& like, FileRow row, ApplyPlan& plan);
  void will_change(const std::string& path, const FileEvent& event, ApplyPlan& plan);

  Result<void> store_steps(const std::vector<ApplyPlan>& plans);
  Result<void> sync_written(const std::vector<ApplyPlan>& plans);
  Result<void> execute(const std::vector<JournalStep>& steps);
  Result<void> execute(const JournalStep& step);
  Result<void> move_aside(const JournalStep& step, const std::string& taken, Folder::Rename how);
  Result<void> undo(std::span<const JournalStep> steps);
  Result<void> undo(const JournalStep& step);
  Result<void> keep_edited(const std::vector<JournalStep>& steps);
  Result<void> execute_plans(std::vector<ApplyPlan>& plans);
  Result<void> sync_folders(const std::vector<ApplyPlan>& plans);
  Result<void> store_results(std::span<const ApplyUnit> units, const std::vector<ApplyPlan>& plans);
  Result<void> store_rows(const std::vector<ApplyPlan>& plans);
  Result<void> store_result(const ApplyUnit& unit, const ApplyPlan& plan);
  void clean_up(const std::vector<ApplyPlan>& plans);

  Folder& folder_;
  NotebookState& state_;
  OwnWrites& own_writes_;
  SharedPendingOperations& pending_operations_;
  std::int64_t notebook_;
  const Clock& clock_;
  bool must_recover_ = false;  // a step could not be undone
  SafeToReplace safe_;         // of the units that are applied
};

}  // namespace eventq::notebook
