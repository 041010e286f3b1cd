// apply.h: events become changes of files and of what is known of them, all or nothing.
//
// What is to be written is written beside the files first. Then every step (make a folder, rename, exchange)
// is put down in the State, then done, then what it means is put down with the steps taken out again.
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
#include "notebook/state.h"

namespace eventq::notebook {

struct FileEvent {
  EventId id{};
  int attempt = 0;
  std::string event_id;
  std::string correlation_id;
  Operation operation;
};

// One event, or all of a folder's operation.
using Part = std::vector<FileEvent>;

struct Verdict {
  enum class Kind : std::uint8_t {
    done,
    never,  // it cannot be done, and trying again would not help
    later,  // it may work another time
  };
  Kind kind{};
  std::string message;
};

// Files whose content, as it is then, is known to be ours or is in a commit.
using SafeToReplace = std::map<std::string, FileState>;

// Where the new content of an event waits, and whose a file there is.
std::string own_path(EventId event);
std::optional<EventId> event_of_own(std::string_view path);

class Applier {
 public:
  Applier(Folder& folder, State& state, OwnWrites& expected, SharedPendingOperations& live,
          std::int64_t notebook, const Clock& clock)
      : folder_(folder),
        state_(state),
        expected_(expected),
        pending_operations_(live),
        notebook_(notebook),
        clock_(clock) {}

  // Undoes what was under way when the last process ended; how many steps that were. What was put in place
  // and then written to by somebody else counts as applied. Errors: something could not be undone, and is
  // still put down.
  Result<std::size_t> recover();

  // Does each part whole or not at all; a verdict each. A file that is to be replaced or deleted and is not
  // as in `safe` any more stays; what is not there is taken as it is found. Errors: the State cannot be
  // written, and nothing was done. REQUIRES: no two parts change the same path, or one that lies in the
  // other.
  Result<std::vector<Verdict>> apply(std::span<const Part> parts, const SafeToReplace& safe = {});

 private:
  // What one part comes to.
  struct Plan {
    std::vector<Step> steps;
    std::vector<std::string> own;  // files of ours that are gone in the end
    std::vector<FileRow> put;
    std::vector<FileRow> removed;
    std::vector<PendingChange> pending;
    std::vector<std::pair<std::string, std::optional<OwnWrites::Content>>> announced;
    std::optional<Error> fault;
    std::vector<std::string> written;  // files of ours with new content
    std::set<std::string> parents;     // folders that are there, or will be
  };
  Plan plan(const Part& part);
  Result<void> plan_one(const FileEvent& event, Plan& plan);
  Result<void> plan_create(const FileEvent& event, Plan& plan);
  Result<void> plan_update(const FileEvent& event, Plan& plan);
  Result<void> plan_move(const FileEvent& event, Plan& plan);
  Result<void> plan_remove(const FileEvent& event, Plan& plan);
  Result<void> plan_sync(const FileEvent& event, Plan& plan);
  Result<void> plan_folder(const Part& part, Plan& plan);
  Result<void> plan_parents(const std::string& path, Plan& plan);
  Result<void> plan_vanished_folders(const std::string& path, Plan& plan);
  Result<FileRow> known(const std::string& path, const FileEvent& event);
  Result<FileRow> write(const FileEvent& event, const std::string& like, FileRow row, Plan& plan);
  void will_change(const std::string& path, const FileEvent& event, Plan& plan);

  Result<void> put_down_steps(const std::vector<Plan>& plans);
  Result<void> sync_written(const std::vector<Plan>& plans);
  Result<void> execute(const std::vector<Step>& steps);
  Result<void> execute(const Step& step);
  Result<void> take_away(const Step& step, const std::string& taken, Folder::Rename how);
  Result<void> undo(std::span<const Step> steps);
  Result<void> undo(const Step& step);
  Result<void> keep_edited(const std::vector<Step>& steps);
  Result<void> execute_plans(std::vector<Plan>& plans);
  Result<void> sync_folders(const std::vector<Plan>& plans);
  Result<void> put_down_results(std::span<const Part> parts, const std::vector<Plan>& plans);
  Result<void> put_down_rows(const std::vector<Plan>& plans);
  Result<void> put_down_result(const Part& part, const Plan& plan);
  void clean_up(const std::vector<Plan>& plans);

  Folder& folder_;
  State& state_;
  OwnWrites& expected_;
  SharedPendingOperations& pending_operations_;
  std::int64_t notebook_;
  const Clock& clock_;
  bool must_recover_ = false;  // a step could not be undone
  SafeToReplace safe_;         // of the parts that are applied
};

}  // namespace eventq::notebook
