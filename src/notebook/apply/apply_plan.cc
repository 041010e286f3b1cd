// apply_plan.cc: plans one unit: the steps on disk and the rows to store afterwards. See applier.h.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/numbers.h"
#include "notebook/apply/applier.h"
#include "notebook/apply/returning_file.h"
#include "notebook/file_version.h"
#include "notebook/files/note_path.h"

namespace eventq::notebook {
namespace {

Error nothing_at(const std::string& path) {
  return {ErrorCode::not_found, "There is no file at " + path + "."};
}

Error something_at(const std::string& path) {
  return {ErrorCode::conflict, "There is already a file or folder at " + path + "."};
}

Error no_file(const std::string& path) { return {ErrorCode::conflict, path + " is no regular file."}; }

// Errors in kOwnFolder are not caused by the request, so the event is retried: the code must not be a
// permanent one.
Error of_ours(const Error& error) {
  return {error.code == ErrorCode::no_space ? ErrorCode::no_space : ErrorCode::unavailable, error.message};
}

OwnWrites::WrittenContent content_of(const FileRow& row) { return {row.state.size, row.hash}; }

constexpr std::string_view kOwnName = "/event-";

}  // namespace

std::string own_path(EventId event) {
  return std::string(kOwnFolder).append(kOwnName) + std::to_string(static_cast<std::int64_t>(event));
}

std::optional<EventId> event_of_own(std::string_view path) {
  const std::string start = std::string(kOwnFolder).append(kOwnName);
  if (!path.starts_with(start)) return std::nullopt;
  const auto number = parse_whole<std::int64_t>(path.substr(start.size()));
  return number ? std::optional(EventId{*number}) : std::nullopt;
}

// Stops at the first error, because a unit is applied completely or not at all: a plan with a fault is never
// executed. The events of a folder operation plan their own files; the folders themselves follow once, behind
// all of them.
ApplyPlan Applier::plan(const ApplyUnit& unit) {
  ApplyPlan plan;
  for (const FileEvent& event : unit) {
    plan.events.push_back(event.id);
    if (auto planned = plan_one(event, plan); !planned) {
      plan.fault = planned.error();
      return plan;
    }
  }
  if (unit.front().operation.group) {
    if (auto planned = plan_folder(unit, plan); !planned) plan.fault = planned.error();
  }
  return plan;
}

Result<void> Applier::plan_one(const FileEvent& event, ApplyPlan& plan) {
  const Operation& operation = event.operation;
  if (operation.nothing || operation.kind == OperationKind::batch_commit) return {};
  if (operation.folder && operation.kind != OperationKind::create) {
    if (operation.group) return {};
    return Error{ErrorCode::invalid_argument, "A folder is moved or deleted as a group."};
  }
  switch (operation.kind) {
    case OperationKind::create: return plan_create(event, plan);
    case OperationKind::update: return plan_update(event, plan);
    case OperationKind::move: return plan_move(event, plan);
    case OperationKind::remove: return plan_remove(event, plan);
    case OperationKind::sync: return plan_sync(event, plan);
    case OperationKind::batch_commit: break;
  }
  return {};
}

// The row may be older than the file, so a file whose state differs is read.
// Errors: version_error() when the file at `path` has another version than the operation allows.
Result<void> Applier::check_version(const Operation& operation, const std::string& path) {
  if (operation.if_match.empty()) return {};
  const auto row = state_.file_at(notebook_, path);
  if (!row) return row.error();
  if (!*row || !has_version(operation.if_match, version_of(**row))) return version_error(path);
  if ((*row)->folder) return {};
  const auto there = folder_.file_state(path);
  if (there && *there == (*row)->state) return {};
  const auto digest = digests_.of(path);
  if (digest && !*digest) {
    return Error{ErrorCode::unavailable, path + " is large and being read, so its version is not known yet."};
  }
  if (digest && (*digest)->hash == (*row)->hash) return {};
  return version_error(path);
}

Result<void> Applier::plan_parents(const std::string& path, ApplyPlan& plan) {
  for (const std::string& folder : folders_of(path)) {
    if (plan.parents.contains(folder)) continue;
    const auto kind = folder_.kind(folder);
    if (!kind) return kind.error();
    if (*kind == PathKind::absent) plan.steps.push_back({StepKind::make_folder, "", folder, {}});
    if (*kind == PathKind::file || *kind == PathKind::other) {
      std::string message = path;
      message.append(" cannot be: ").append(folder).append(" is no folder.");
      return Error{ErrorCode::conflict, std::move(message)};
    }
    plan.parents.insert(folder);
  }
  return {};
}

void Applier::will_change(const std::string& path, const FileEvent& event, ApplyPlan& plan) {
  plan.pending.push_back({0, path, event.event_id, event.correlation_id, clock_.now()});
}

// The row of the file at `path`; built from the file on disk if there is no row yet.
Result<FileRow> Applier::known(const std::string& path, const FileEvent& event) {
  auto row = state_.file_at(notebook_, path);
  if (!row) return row.error();
  if (*row && !(*row)->folder) return std::move(**row);
  auto digest = digests_.of(path);
  if (!digest) return digest.error();
  if (!*digest) return Error{ErrorCode::unavailable, path + " is large and still being read."};
  FileRow made;
  if (*row) made.id = (*row)->id;
  made.path = path;
  made.state = (*digest)->state;
  made.hash = std::move((*digest)->hash);
  made.content_type = std::move((*digest)->content_type);
  made.updated_at = clock_.now();
  made.event_id = event.event_id;
  return made;
}

// Writes the event's content to a file in kOwnFolder; returns the row that the file will have at its path.
Result<FileRow> Applier::write(const FileEvent& event, const std::string& like, FileRow row,
                               ApplyPlan& plan) {
  const std::string own = own_path(event.id);
  const std::string content = event.operation.content.value_or("");
  if (auto removed = folder_.remove_file(own); !removed) return of_ours(removed.error());
  const auto state = folder_.write_own(own, content, like);
  if (!state) return of_ours(state.error());
  plan.own.push_back(own);
  plan.written.push_back(own);
  row.folder = false;
  row.path = event.operation.path;
  row.state = *state;
  row.hash = digests_.is_too_large(row.state.size) ? "" : hash_of(content);
  row.content_type = content_type_of(row.path, std::string_view(content).substr(0, 4096));
  row.updated_at = clock_.now();
  row.event_id = event.event_id;
  row.metadata.update(event.operation.metadata);
  plan.announced.emplace_back(row.path, content_of(row));
  will_change(row.path, event, plan);
  return row;
}

Result<void> Applier::plan_create(const FileEvent& event, ApplyPlan& plan) {
  const std::string& path = event.operation.path;
  const auto kind = folder_.kind(path);
  if (!kind) return kind.error();
  if (*kind != PathKind::absent) return something_at(path);
  if (auto planned = plan_parents(path, plan); !planned) return planned;
  // The row of a file that another program deleted: the new file gets its id, unless another was promised.
  auto stale = state_.file_at(notebook_, path);
  if (!stale) return stale.error();
  FileRow row;
  row.reserved = event.operation.file;
  if (*stale && row.reserved == 0) row.id = (*stale)->id;
  if (*stale && row.reserved != 0) plan.removed.push_back((*stale)->id);
  if (event.operation.folder) {
    row.folder = true;
    row.path = path;
    row.updated_at = clock_.now();
    row.event_id = event.event_id;
    plan.steps.push_back({StepKind::make_folder, "", path, {}});
    plan.put.push_back(std::move(row));
    return {};
  }
  auto written = write(event, "", std::move(row), plan);
  if (!written) return written.error();
  plan.steps.push_back({StepKind::rename, own_path(event.id), path, written->state});
  plan.put.push_back(std::move(*written));
  return {};
}

Result<void> Applier::plan_update(const FileEvent& event, ApplyPlan& plan) {
  const std::string& path = event.operation.path;
  const auto kind = folder_.kind(path);
  if (!kind) return kind.error();
  if (*kind == PathKind::absent) return nothing_at(path);
  if (*kind != PathKind::file) return no_file(path);
  if (auto fits = check_version(event.operation, path); !fits) return fits;
  auto row = known(path, event);
  if (!row) return row.error();
  // An update of metadata only stores a row; the file and its pending commit do not change.
  if (!event.operation.content) {
    row->metadata.update(event.operation.metadata);
    row->updated_at = clock_.now();
    row->event_id = event.event_id;
    plan.put.push_back(std::move(*row));
    return {};
  }
  auto written = write(event, path, std::move(*row), plan);
  if (!written) return written.error();
  JournalStep step{StepKind::exchange, own_path(event.id), path, written->state};
  if (const auto safe = safe_.find(path); safe != safe_.end()) {
    step.replaced = safe->second.state;
    step.content = safe->second.hash;
  }
  plan.steps.push_back(std::move(step));
  plan.put.push_back(std::move(*written));
  return {};
}

Result<void> Applier::plan_move(const FileEvent& event, ApplyPlan& plan) {
  const std::string& source = event.operation.source;
  const std::string& dest = event.operation.path;
  const auto what = folder_.file_state(source);
  if (!what) return what.error().code == ErrorCode::not_found ? nothing_at(source) : what.error();
  // Check the destination now for a clear message; the rename itself refuses to replace a file, too.
  const auto kind = folder_.kind(dest);
  if (!kind) return kind.error();
  if (*kind != PathKind::absent) return something_at(dest);
  if (!event.operation.group) {  // plan_folder() checks the folder
    if (auto fits = check_version(event.operation, source); !fits) return fits;
  }
  if (auto planned = plan_parents(dest, plan); !planned) return planned;
  auto row = known(source, event);
  if (!row) return row.error();
  auto stale = state_.file_at(notebook_, dest);
  if (!stale) return stale.error();
  if (*stale) plan.removed.push_back((*stale)->id);
  plan.steps.push_back({StepKind::rename, source, dest, *what});
  row->path = dest;
  // The content is not read again: text stays text, and the new extension may name a better type.
  row->content_type =
      content_type_of(dest, row->content_type.starts_with("text/") ? " " : std::string_view("\0", 1));
  row->updated_at = clock_.now();
  row->event_id = event.event_id;
  plan.announced.emplace_back(source, std::nullopt);
  plan.announced.emplace_back(dest, content_of(*row));
  plan.put.push_back(std::move(*row));
  will_change(source, event, plan);
  will_change(dest, event, plan);
  return {};
}

Result<void> Applier::plan_remove(const FileEvent& event, ApplyPlan& plan) {
  const std::string& path = event.operation.path;
  const auto kind = folder_.kind(path);
  if (!kind) return kind.error();
  if (*kind == PathKind::folder || *kind == PathKind::other) return no_file(path);
  auto row = state_.file_at(notebook_, path);
  if (!row) return row.error();
  if (*kind == PathKind::absent && !*row) return nothing_at(path);
  if (!event.operation.group) {  // plan_folder() checks the folder
    if (auto fits = check_version(event.operation, path); !fits) return fits;
  }
  if (*kind == PathKind::file) {
    const auto what = folder_.file_state(path);
    if (!what) return what.error();
    const std::string own = own_path(event.id);
    if (auto removed = folder_.remove_file(own); !removed) return of_ours(removed.error());
    const auto safe = safe_.find(path);
    JournalStep step{StepKind::rename, path, own, *what};
    if (safe != safe_.end()) {
      step.what = safe->second.state;
      step.content = safe->second.hash;
    }
    plan.steps.push_back(std::move(step));
    plan.own.push_back(own);
    plan.announced.emplace_back(path, std::nullopt);
  }
  if (*row) plan.removed.push_back((*row)->id);
  will_change(path, event, plan);
  return {};
}

// Removes the rows of the topmost missing folder above `path` and of the folders in it.
Result<void> Applier::plan_vanished_folders(const std::string& path, ApplyPlan& plan) {
  for (const std::string& folder : folders_of(path)) {
    const auto kind = folder_.kind(folder);
    if (!kind) return kind.error();
    if (*kind == PathKind::folder) continue;
    auto row = state_.file_at(notebook_, folder);
    if (!row) return row.error();
    if (!*row || !(*row)->folder) continue;
    auto inner = state_.files_within(notebook_, folder, FileFilter::folders);
    if (!inner) return inner.error();
    for (const FileRow& folder_row : *inner) plan.removed.push_back(folder_row.id);
    plan.removed.push_back((*row)->id);
    return {};
  }
  return {};
}

// A rename by another program keeps the row's id, but only if the source is gone, its inode or its content is
// that of `content`, and no other row has the new path. Returns that row; empty: no row moves.
Result<std::optional<FileRow>> Applier::plan_renamed(const FileEvent& event, const Digest* content,
                                                     ApplyPlan& plan) {
  const std::string& source = event.operation.source;
  auto row = state_.file_at(notebook_, source);
  if (!row) return row.error();
  const auto kind = folder_.kind(source);
  if (!kind) return kind.error();
  if (*row && ((*row)->folder || *kind == PathKind::file)) row->reset();
  if (*row) will_change(source, event, plan);
  const bool is_same = *row && content != nullptr &&
                       ((*row)->hash == content->hash || (*row)->state.inode == content->state.inode);
  if (*row && !is_same) {
    plan.removed.push_back((*row)->id);
    row->reset();
  }
  if (auto planned = plan_vanished_folders(source, plan); !planned) return planned.error();
  return row;
}

// The row that a file without a row had before (returning_file.h). Its old path becomes pending: the file may
// have left it unnoticed.
Result<std::optional<FileRow>> Applier::plan_returning(const FileEvent& event, const Digest& digest,
                                                       ApplyPlan& plan) {
  const ReturnSearch search{folder_, state_, notebook_, clock_.now() - deleted_retention_, returned_};
  auto row = find_returning(search, event.operation.path, digest);
  if (!row || !*row) return row;
  returned_.insert((*row)->id);
  if ((*row)->path == event.operation.path) return row;
  will_change((*row)->path, event, plan);
  if (auto planned = plan_vanished_folders((*row)->path, plan); !planned) return planned.error();
  return row;
}

// A sync changes no file: it only makes the rows agree with the disk.
Result<void> Applier::plan_sync(const FileEvent& event, ApplyPlan& plan) {
  const std::string& path = event.operation.path;
  auto row = state_.file_at(notebook_, path);
  if (!row) return row.error();
  auto read = digests_.of(path);
  const ErrorCode code = read ? ErrorCode{} : read.error().code;
  // The file is being written now: the watcher reports it again when the write ends. If that takes long, the
  // worker commits it as it is then.
  if (!read && code == ErrorCode::conflict) {
    will_change(path, event, plan);
    return {};
  }
  if (read && !*read) return {};  // a large file, which is reported again when it is hashed
  if (!read && code != ErrorCode::not_found && code != ErrorCode::invalid_argument) return read.error();
  std::optional<Digest> digest = read ? std::move(*read) : std::nullopt;
  FileRow now = row->value_or(FileRow{});
  if (!event.operation.source.empty()) {
    auto renamed = plan_renamed(event, digest && !*row ? &*digest : nullptr, plan);
    if (!renamed) return renamed.error();
    if (*renamed) now = std::move(**renamed);
  }
  if (digest && now.id == 0) {
    auto returning = plan_returning(event, *digest, plan);
    if (!returning) return returning.error();
    if (*returning) now = std::move(**returning);
  }
  if (!digest) {
    if (!*row || (*row)->folder) return {};
    plan.removed.push_back((*row)->id);
    will_change(path, event, plan);
    return plan_vanished_folders(path, plan);
  }
  // Equal content with another inode or time needs a new FileState in the row, but no commit and no new event
  // id.
  const bool is_as_known = *row && !now.folder && is_unchanged(now, *digest);
  if (is_as_known && now.state == digest->state) return {};
  now.folder = false;
  now.path = path;
  now.state = digest->state;
  now.hash = std::move(digest->hash);
  now.content_type = std::move(digest->content_type);
  if (!is_as_known) {
    now.updated_at = clock_.now();
    now.event_id = event.event_id;
    will_change(path, event, plan);
  }
  plan.put.push_back(std::move(now));
  return {};
}

// Adds the rows and steps of the folder itself and of the folders in it; the files have been planned.
Result<void> Applier::plan_folder(const ApplyUnit& unit, ApplyPlan& plan) {
  const FolderOperation& group = *unit.front().operation.group;
  if (auto fits = check_version(unit.front().operation, group.source); !fits) return fits;
  auto folders = state_.files_within(notebook_, group.source, FileFilter::folders);
  if (!folders) return folders.error();
  auto itself = state_.file_at(notebook_, group.source);
  if (!itself) return itself.error();
  if (*itself && (*itself)->folder) folders->insert(folders->begin(), std::move(**itself));
  std::vector<FileRow> moved;
  std::vector<std::string> emptied;
  for (FileRow& row : *folders) {
    emptied.push_back(row.path);
    if (group.dest.empty()) {
      plan.removed.push_back(row.id);
      continue;
    }
    row.path = group.dest + row.path.substr(group.source.size());
    if (auto planned = plan_parents(row.path + "/.", plan); !planned) return planned;
    moved.push_back(std::move(row));
  }
  // Folder rows go before file rows, because put_file() would create missing folder rows with new ids.
  plan.put.insert(plan.put.begin(), std::make_move_iterator(moved.begin()),
                  std::make_move_iterator(moved.end()));
  // Innermost first. A folder that contains a file unknown to the notebook is not empty, so it stays.
  for (auto folder = emptied.rbegin(); folder != emptied.rend(); ++folder) {
    plan.steps.push_back({StepKind::remove_folder, "", std::move(*folder), {}});
  }
  return {};
}

}  // namespace eventq::notebook
