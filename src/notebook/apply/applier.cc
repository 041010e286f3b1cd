// applier.cc: runs plans: journal, steps, results. See applier.h.
#include "notebook/apply/applier.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "notebook/file_version.h"
#include "notebook/files/note_path.h"

namespace eventq::notebook {
namespace {

// With more files than this, one syncfs() is used instead of one fsync() per file.
constexpr std::size_t kSyncEach = 3;

// These codes describe the request or the files, so a retry would give the same error. All others may be
// transient.
ApplyOutcome outcome_of(const Error& error, const ApplyUnit& unit) {
  const bool never = error.code == ErrorCode::not_found || error.code == ErrorCode::conflict ||
                     error.code == ErrorCode::invalid_argument || error.code == ErrorCode::too_large;
  const auto& group = unit.front().operation.group;
  std::string message = error.message;
  if (group)
    message =
        "Nothing in " + group->source + " was " + (group->dest.empty() ? "deleted: " : "moved: ") + message;
  ApplyOutcome outcome{never ? OutcomeKind::failed : OutcomeKind::retry, std::move(message)};
  if (is_version_error(error)) outcome.status_code = kPreconditionFailed;
  return outcome;
}

// The plans without an error as one plan, so that all units share one sync and one transaction.
ApplyPlan joined(const std::vector<ApplyPlan>& plans) {
  ApplyPlan all;
  const auto append = [](auto& to, const auto& more) { to.insert(to.end(), more.begin(), more.end()); };
  for (const ApplyPlan& plan : plans) {
    if (plan.fault) continue;
    append(all.events, plan.events);
    append(all.steps, plan.steps);
    append(all.written, plan.written);
    append(all.removed, plan.removed);
    append(all.put, plan.put);
    append(all.pending, plan.pending);
  }
  return all;
}

}  // namespace

// The journal names the written files, so they must be on disk before it is: recover() compares their inodes.
Result<void> Applier::store_steps(const ApplyPlan& all) {
  if (all.steps.empty()) return {};
  if (all.written.size() > kSyncEach) {
    if (auto synced = folder_.sync_all(); !synced) return synced;
  } else {
    for (const std::string& path : all.written) {
      if (auto synced = folder_.sync_file(path); !synced) return synced;
    }
  }
  return state_.add_steps(notebook_, all.steps);
}

// A unit is atomic: when a step fails, the steps before it are undone at once.
Result<void> Applier::execute(const std::vector<JournalStep>& steps) {
  for (auto step = steps.begin(); step != steps.end(); ++step) {
    auto done = execute(*step);
    if (done) continue;
    if (auto undone = undo({steps.begin(), step}); !undone) must_recover_ = true;
    return done;
  }
  return {};
}

Result<void> Applier::execute(const JournalStep& step) {
  switch (step.kind) {
    case StepKind::make_folder: return folder_.make_folder(step.to);
    case StepKind::remove_folder: return folder_.remove_empty_folder(step.to);
    case StepKind::exchange: return move_aside(step, step.from, Folder::Rename::exchange);
    case StepKind::rename: break;
  }
  // A rename into kOwnFolder is a deletion: the file is only unlinked after the results are stored.
  if (is_within(step.to, kOwnFolder)) return move_aside(step, step.to, Folder::Rename::no_replace);
  return folder_.rename(step.from, step.to, Folder::Rename::no_replace);
}

bool Applier::has_content(const std::string& path, const std::string& hash) const {
  if (hash.empty()) return false;
  const auto digest = folder_.digest(path);
  return digest && digest->hash == hash;
}

// The file at `taken` will be deleted later. If another program changed it after its state was read, this
// function moves it back.
Result<void> Applier::move_aside(const JournalStep& step, const std::string& taken, Folder::Rename how) {
  if (auto renamed = folder_.rename(step.from, step.to, how); !renamed) return renamed;
  const auto there = folder_.file_state(taken);
  const auto wanted = how == Folder::Rename::exchange ? step.replaced : std::optional(step.what);
  if (!wanted || (there && *there == *wanted) || has_content(taken, step.content)) return {};
  if (auto back = folder_.rename(step.to, step.from, how); !back) {
    must_recover_ = true;
    return back;
  }
  // The editor saved once more between the two exchanges: its newest content belongs at step.to, so exchange
  // again.
  const auto ours = folder_.file_state(step.from);
  if (how == Folder::Rename::exchange && (!ours || *ours != step.what)) {
    (void)folder_.rename(step.from, step.to, how);
  }
  const std::string& path = how == Folder::Rename::exchange ? step.to : step.from;
  return Error{ErrorCode::unavailable, path + " was written to just now; it is tried again."};
}

// Continues after an error, because later steps may still be undone. Errors: the first one.
Result<void> Applier::undo(std::span<const JournalStep> steps) {
  Result<void> result;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (auto undone = undo(*step); !undone && result) result = undone;
  }
  return result;
}

// Undoes a step only if its file is still as the step left it, because another program's file must stay.
//
// Two kinds of files are moved back even after an edit, because the edit moves back with the file: a moved
// file with the same inode, and a file that was moved to kOwnFolder for deletion.
Result<void> Applier::undo(const JournalStep& step) {
  if (step.kind == StepKind::make_folder) return folder_.remove_empty_folder(step.to);
  if (step.kind == StepKind::remove_folder) return folder_.make_folder(step.to);
  const auto there = folder_.file_state(step.to);
  if (!there) {
    const bool is_gone =
        there.error().code == ErrorCode::not_found || there.error().code == ErrorCode::invalid_argument;
    return is_gone ? Result<void>() : there.error();
  }
  const bool is_taken_away = is_within(step.to, kOwnFolder);
  const bool is_moved = step.kind == StepKind::rename && !is_within(step.from, kOwnFolder);
  const bool is_other = is_moved ? there->inode != step.what.inode : *there != step.what;
  if (is_other && !is_taken_away) return {};
  if (step.kind == StepKind::exchange) return folder_.rename(step.to, step.from, Folder::Rename::exchange);
  auto renamed = folder_.rename(step.to, step.from, Folder::Rename::no_replace);
  // Another file now has the old path, so the moved file keeps its new one.
  if (!renamed && renamed.error().code == ErrorCode::conflict) return {};
  return renamed;
}

// Renames are only durable after a sync of the folders that changed. The rows must not be stored before.
Result<void> Applier::sync_folders(const std::vector<JournalStep>& steps) {
  std::set<std::string> folders;
  for (const JournalStep& step : steps) {
    for (const std::string* path : {&step.from, &step.to}) {
      if (!path->empty() && !is_within(*path, kOwnFolder)) folders.emplace(parent_of(*path));
    }
  }
  if (folders.size() > kSyncEach) return folder_.sync_all();
  for (const std::string& folder : folders) {
    auto synced = folder_.sync_folder(folder);
    // A step removed this folder; syncing its parent, which is in the set too, is enough.
    if (!synced && synced.error().code != ErrorCode::not_found) return synced;
  }
  return {};
}

// The lock covers the commit and the removal from the pending operations, because the publisher reads both
// and must see them change together.
Result<void> Applier::store_results(const ApplyPlan& all) {
  const std::scoped_lock lock(pending_operations_.mutex);
  if (auto begun = state_.begin(); !begun) return begun;
  // Removals first: a new row may need the unique path of a removed one.
  for (const std::int64_t row : all.removed) {
    if (auto removed = state_.remove_to_gone(notebook_, row, clock_.now()); !removed) return removed;
  }
  if (!all.removed.empty()) {
    auto expired = state_.expire_gone(notebook_, clock_.now() - deleted_retention_);
    if (!expired) return expired;
  }
  for (const FileRow& row : all.put) {
    if (auto put = state_.put_file(notebook_, row); !put) return put.error();
  }
  if (auto added = state_.add_pending(notebook_, all.pending); !added) return added;
  for (const EventId event : all.events) {
    if (auto added = state_.add_applied(notebook_, event); !added) return added;
  }
  if (auto cleared = state_.clear_steps(notebook_); !cleared) return cleared;
  if (auto committed = state_.commit(); !committed) return committed;
  for (const EventId event : all.events) pending_operations_.operations.end(event);
  return {};
}

// Runs the steps of every plan and stores the results. A failed plan was undone and keeps its error in
// `fault`, so the others continue. If the undoing failed too (must_recover_), the files are half changed: the
// whole apply() fails and recover() must undo the journal first.
Result<void> Applier::execute_plans(std::vector<ApplyPlan>& plans) {
  for (ApplyPlan& plan : plans) {
    if (plan.fault) continue;
    // Announce before the first step: the watcher may report the write before execute() returns.
    for (auto& [path, content] : plan.announced) own_writes_.announce(path, content);
    if (auto executed = execute(plan.steps); !executed) plan.fault = executed.error();
    if (must_recover_) return *plan.fault;
  }
  const ApplyPlan all = joined(plans);
  if (auto synced = sync_folders(all.steps); !synced) return synced;
  return store_results(all);
}

Result<std::vector<ApplyOutcome>> Applier::apply(std::span<const ApplyUnit> units,
                                                 const SafeToReplace& safe) {
  safe_ = safe;
  returned_.clear();
  if (must_recover_) {
    if (auto recovered = recover(); !recovered) return recovered.error();
  }
  (void)folder_.make_folder(std::string(kOwnFolder));  // a user may have removed it
  std::vector<ApplyPlan> plans;
  for (const ApplyUnit& unit : units) plans.push_back(plan(unit));
  auto done = store_steps(joined(plans));
  if (done) {
    done = execute_plans(plans);
    if (!done) {
      state_.rollback();
      must_recover_ = true;
    }
  }
  own_writes_.clear();
  if (!must_recover_) {  // otherwise recover() needs the files in kOwnFolder
    for (const ApplyPlan& plan : plans) {
      for (const std::string& own : plan.own) (void)folder_.remove_file(own);
    }
  }
  if (!done) {
    // Recover now if possible; otherwise the next apply() recovers first.
    if (must_recover_) (void)recover();
    return done.error();
  }
  std::vector<ApplyOutcome> outcomes;
  for (std::size_t i = 0; i < units.size(); ++i) {
    outcomes.push_back(plans[i].fault ? outcome_of(*plans[i].fault, units[i]) : ApplyOutcome{});
  }
  return outcomes;
}

// Marks events as applied whose new content was edited after it was put in place: applying such an event
// again would overwrite the edit.
Result<void> Applier::keep_edited(const std::vector<JournalStep>& steps) {
  for (const JournalStep& step : steps) {
    const auto event = event_of_own(step.from);
    if (!event) continue;
    const auto own = folder_.file_state(step.from);
    const auto there = folder_.file_state(step.to);
    const bool was_done = !own || own->inode != step.what.inode;
    if (!was_done || (there && *there == step.what)) continue;
    if (auto added = state_.add_applied(notebook_, *event); !added) return added;
  }
  return {};
}

Result<std::size_t> Applier::recover() {
  must_recover_ = true;
  const auto steps = state_.steps(notebook_);
  if (!steps) return steps.error();
  if (auto kept = keep_edited(*steps); !kept) return kept.error();
  if (auto undone = undo(*steps); !undone) return undone.error();
  if (!steps->empty()) {
    if (auto synced = folder_.sync_all(); !synced) return synced.error();
    if (auto cleared = state_.clear_steps(notebook_); !cleared) return cleared.error();
  }
  if (auto cleared = folder_.clear_own(); !cleared) return cleared.error();
  must_recover_ = false;
  return steps->size();
}

}  // namespace eventq::notebook
