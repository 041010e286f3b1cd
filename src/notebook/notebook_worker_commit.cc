// notebook_worker_commit.cc: the git side of the worker: when to commit, which files, how it follows HEAD,
// and how content of other programs is committed before an operation replaces it. See notebook_worker.h.
#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "notebook/apply/returning_file.h"
#include "notebook/files/note_path.h"
#include "notebook/git/commit_message.h"
#include "notebook/notebook_worker.h"

namespace eventq::notebook {
namespace {

constexpr Millis kAfterLeftOut{5000};
// With kAfterLeftOut and the default interval a file that never rests is committed every 30 seconds.
constexpr Millis kRestless{20'000};
constexpr std::size_t kAllFiles = 1'000'000'000;

// The pending changes whose paths are among these.
std::vector<PendingChange> changes_of(const std::vector<PendingChange>& changes,
                                      const std::set<std::string>& paths) {
  std::vector<PendingChange> found;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(found),
               [&](const PendingChange& change) { return paths.contains(change.path); });
  return found;
}

std::set<std::string> set_of(const std::vector<std::string>& paths) { return {paths.begin(), paths.end()}; }

bool is_attributes_file(const std::string& path) {
  return path == ".gitattributes" || path.ends_with("/.gitattributes");
}

}  // namespace

void NotebookWorker::commit_if_time() {
  const TimePoint now = context_.clock.now();
  // A pause longer than the maximum means that the clock was set back: ignore it.
  const Millis pause_max = std::max<Millis>(settings_.git_commit_interval, kAfterLeftOut);
  if (now < commit_again_at_ && commit_again_at_ - now <= pause_max) return;
  const bool must_look = !head_checked_at_ || now < *head_checked_at_ ||
                         now - *head_checked_at_ >= settings_.git_commit_interval;
  if (must_look) {
    if (auto checked = check_head(); !checked) return (void)commit_failed(checked.error());
  }
  // An error of the state is not reported here, because the next apply() reports it.
  const auto waiting = context_.state.waiting(notebook_);
  if (!waiting) return;
  if (waiting->paths == 0) note_trouble(status_.commit_trouble, "");
  if (is_time_to_commit(*waiting, settings_, now)) (void)commit();
}

Error NotebookWorker::commit_failed(const Error& why) {
  // A lock of git's may be gone soon, however long the interval is.
  commit_again_at_ = context_.clock.now() + std::min(settings_.git_commit_interval, kAfterLeftOut);
  note_trouble(status_.commit_trouble, why.message);
  return why;
}

// Makes every path that a user commit changed pending: the user's index may have been older than our last
// commit, and a new repository has no files. If HEAD equals the files, the next commit drops these changes
// again.
Result<void> NotebookWorker::check_head() {
  const TimePoint now = context_.clock.now();
  head_checked_at_ = now;
  if (auto found = find_gone_links(); !found) return found;
  auto moved = context_.repo.moved();
  if (!moved) return moved.error();
  if (!*moved) return {};
  using LastSeen = MovedHead::LastSeen;
  std::vector<PendingChange> changes;
  // With a HEAD that was never seen only missing files matter: the import has compared the existing ones.
  const bool is_first = (*moved)->from == LastSeen::unseen;
  std::unordered_set<std::string> imported;
  if (is_first) {
    auto known = context_.state.files(notebook_, FileFilter::files, "", kAllFiles);
    if (!known) return known.error();
    for (FileRow& row : *known) imported.insert(std::move(row.path));
  }
  for (const std::string& path : (*moved)->paths) {
    if (imported.contains(path)) continue;
    const auto may = is_first ? is_absent(path) : may_differ(path);
    if (!may) return may.error();
    if (*may) changes.push_back({0, path, "", "", now});
  }
  if ((*moved)->from == LastSeen::gone) {
    auto known = context_.state.files(notebook_, FileFilter::files, "", kAllFiles);
    if (!known) return known.error();
    for (FileRow& row : *known) changes.push_back({0, std::move(row.path), "", "", now});
  }
  GitMarks marks = context_.repo.marks();
  marks.head = (*moved)->to;
  if (auto put = context_.state.set_git_marks(notebook_, marks, changes); !put) return put;
  context_.repo.remember(std::move(marks));
  return {};
}

// A link has no row, so change detection does not report its deletion.
Result<void> NotebookWorker::find_gone_links() {
  const auto gone = context_.repo.gone_links(context_.folder);
  if (!gone) return gone.error();
  std::vector<PendingChange> changes;
  for (const std::string& path : *gone) {
    if (is_absent(path)) changes.push_back({0, path, "", "", context_.clock.now()});
  }
  if (changes.empty()) return {};
  return context_.state.add_pending(notebook_, changes);
}

// Whether the file at `path` may differ from HEAD. An unreadable path or one that no note can have stays as
// HEAD has it.
Result<bool> NotebookWorker::may_differ(const std::string& path) {
  const auto row = context_.state.file_at(notebook_, path);
  if (!row) return row.error();
  if (*row || is_absent(path)) return true;
  return note_path(path) && context_.folder.file_state(path);
}

bool NotebookWorker::is_absent(const std::string& path) const {
  if (!note_path(path)) return false;
  const auto kind = context_.folder.kind(path);
  return kind && *kind == PathKind::absent;
}

// `as_they_are`: files to commit in these states, whatever their rows say. Errors: also when one of them
// could not be committed.
Result<void> NotebookWorker::commit(const SafeToReplace& as_they_are) {
  auto made = check_head();
  if (made) made = make_commit(as_they_are);
  if (!made) return commit_failed(made.error());
  return {};
}

Result<void> NotebookWorker::make_commit(const SafeToReplace& as_they_are) {
  const auto changes = context_.state.pending(notebook_);
  if (!changes) return changes.error();
  if (changes->empty()) return {};
  const TimePoint now = context_.clock.now();
  auto paths = notebook::paths_of(*changes);
  if (auto left = leave_too_large(paths); !left) return left;
  const auto known = known_files(paths, as_they_are);
  if (!known) return known.error();
  std::set<std::string> waits(paths.begin(), paths.end());  // the paths that stay pending
  std::set<std::string> restless = overdue(*changes, now);
  std::erase_if(restless, [&](const std::string& path) { return known->contains(path); });
  std::erase_if(waits,
                [&](const std::string& path) { return known->contains(path) || restless.contains(path); });
  std::erase_if(paths, [&](const std::string& path) { return waits.contains(path); });
  std::string message;
  // The message is made inside commit(), because only then it is known which paths differ from HEAD.
  const auto message_for = [&](const std::vector<std::string>& changed) {
    message = commit_message(changed, changes_in_commit(*changes, changed));
    return message;
  };
  // Content that is about to be replaced is committed at once; other large files when their blobs are stored.
  LargeBlobs blobs;
  if (as_they_are.empty())
    blobs = [&](const auto& path, const auto& state) {
      return restless.contains(path) ? std::optional<std::string>("") : large_blob(path, state);
    };
  const auto made = context_.repo.commit(context_.folder, paths, message_for, now, *known, blobs);
  if (!made) return made.error();
  waits.insert(made->left_out.begin(), made->left_out.end());
  if (auto noted = note_filtered(*made, paths); !noted) return noted;
  auto again = changes_of(*changes, waits);
  if (again.size() < changes->size()) {
    // They are committed as they were when they were read, so they must be compared again.
    for (const std::string& path : restless) {
      if (!waits.contains(path)) again.push_back({.path = path, .since = now});
    }
    if (auto put = store_made(*made, std::move(message), *changes, again); !put) return put;
  }
  std::erase_if(uncommitted_foreign_,
                [&](const std::string& path) { return !waits.contains(path) && !restless.contains(path); });
  // No sooner, even if the maximum number of paths is pending.
  if (!waits.empty()) commit_again_at_ = now + kAfterLeftOut;
  const std::string why = " cannot be read or is being written";
  note_trouble(status_.commit_trouble,
               waits.empty() ? "" : *waits.begin() + why + "; it is committed later.");
  for (const auto& [path, state] : as_they_are) {
    if (!waits.contains(path)) continue;
    return Error{ErrorCode::unavailable, path + why + ", so its content cannot be committed first."};
  }
  return {};
}

// The paths whose oldest change has waited so long that their files are committed in any state: a program may
// write to them without a pause.
std::set<std::string> NotebookWorker::overdue(const std::vector<PendingChange>& changes, TimePoint now) {
  std::set<std::string> paths;
  for (const PendingChange& change : changes) {
    if (now - change.since >= kRestless) paths.insert(change.path);
  }
  return paths;
}

// Stores in the rows which of these paths git's filters keep out of commits. A changed .gitattributes may end
// that, so then all such files are compared again.
Result<void> NotebookWorker::note_filtered(const GitCommit& made, const std::vector<std::string>& paths) {
  const std::set<std::string> filtered = set_of(made.filtered);
  std::vector<std::string> others;
  for (const std::string& path : paths) {
    if (!filtered.contains(path)) others.push_back(path);
  }
  if (auto put = context_.state.set_git_note(notebook_, others, ""); !put) return put;
  if (std::any_of(made.changed.begin(), made.changed.end(), is_attributes_file)) {
    if (auto again = compare_filtered(); !again) return again;
  }
  return context_.state.set_git_note(notebook_, made.filtered, kGitFiltered);
}

// Makes every file that git's filters keep out of commits pending.
Result<void> NotebookWorker::compare_filtered() {
  const auto noted = context_.state.git_noted(notebook_, kGitFiltered, kAllFiles);
  if (!noted) return noted.error();
  std::vector<PendingChange> changes;
  for (const std::string& path : *noted) changes.push_back({0, path, "", "", context_.clock.now()});
  if (changes.empty()) return {};
  return context_.state.add_pending(notebook_, changes);
}

// Records a commit with the changes that it contains; `again` stays pending. The other changes are dropped:
// the user committed them, they undid each other, or git ignores or filters their paths.
Result<void> NotebookWorker::store_made(const GitCommit& made, std::string message,
                                        const std::vector<PendingChange>& changes,
                                        const std::vector<PendingChange>& again) {
  CommitRow row{
      .hash = made.hash, .message = std::move(message), .files = static_cast<std::int64_t>(made.files)};
  auto in = changes_in_commit(changes, made.changed);
  if (row.hash.empty()) {
    auto found = find_commit(changes);
    if (!found) return found.error();
    if (*found) {
      row.hash = std::move((*found)->hash);
      const auto& named = (*found)->values;
      std::copy_if(changes.begin(), changes.end(), std::back_inserter(in), [&](const PendingChange& change) {
        return std::find(named.begin(), named.end(), change.event_id) != named.end();
      });
    }
    row.message = commit_message(notebook::paths_of(in), in);
  }
  if (auto put = store_commit(std::move(row), in, again, changes.back().number); !put) return put;
  const std::scoped_lock lock(status_mutex_);
  if (!made.hash.empty()) ++status_.commits;
  status_.committed_files += made.files;
  return {};
}

// Empty while the thread of the Digests hashes and stores the file; then the path waits for a later commit.
std::optional<std::string> NotebookWorker::large_blob(const std::string& path, const FileState& state) {
  const auto digest = context_.digests.of(path, state);
  if (!digest || !*digest || (*digest)->state != state) return std::nullopt;
  return (*digest)->blob;
}

// Removes the paths of files that are not committed, because they are larger than max_file_size. HEAD keeps
// the content that it has for such a path.
Result<void> NotebookWorker::leave_too_large(std::vector<std::string>& paths) {
  std::vector<std::string> kept;
  for (std::string& path : paths) {
    const auto row = context_.state.file_at(notebook_, path);
    if (!row) return row.error();
    if (!*row || (*row)->folder || !(*row)->hash.empty()) kept.push_back(std::move(path));
  }
  paths = std::move(kept);
  return {};
}

// The states that the rows have for these paths. A path whose file differs has no entry and stays pending
// until change detection has recorded it. Committing such a file could be final: if it changes back before
// detection runs, no event reports it.
Result<KnownFiles> NotebookWorker::known_files(const std::vector<std::string>& paths,
                                               const SafeToReplace& as_they_are) {
  KnownFiles known;
  for (const auto& [path, safe] : as_they_are) known.emplace(path, safe.state);
  for (const std::string& path : paths) {
    if (known.contains(path)) continue;
    const auto row = context_.state.file_at(notebook_, path);
    if (!row) return row.error();
    const auto there = context_.folder.file_state(path);
    if (!*row || (*row)->folder) {
      if (!there) known.emplace(path, std::nullopt);
    } else if (there && *there == (*row)->state) {
      known.emplace(path, *there);
    } else if (const auto digest = context_.digests.of(path);
               digest && *digest && is_unchanged(**row, **digest)) {
      known.emplace(path, (*digest)->state);  // the same content, saved again
    }
  }
  return known;
}

// Stores the commit with the events of its `changes`, and replaces the pending changes up to number `last` by
// those `again`. REQUIRES: `row` has no events and no time yet.
Result<void> NotebookWorker::store_commit(CommitRow row, const std::vector<PendingChange>& changes,
                                          const std::vector<PendingChange>& again, std::int64_t last) {
  row.message.resize(std::min(row.message.find('\n'), row.message.size()));
  row.at = context_.clock.now();
  // Several changes may belong to one event; its id is stored once, at its first position.
  std::set<std::string_view> seen;
  for (const PendingChange& change : changes) {
    if (!change.event_id.empty() && seen.insert(change.event_id).second)
      row.event_ids.push_back(change.event_id);
  }
  return context_.state.add_commit(notebook_, row, last, context_.repo.marks(), again);
}

// Records a commit that the last process made but could not record. Which paths it left out is unknown, so
// its paths become pending again without an event; changes that it does not name stay pending.
Result<void> NotebookWorker::store_last_commit() {
  const auto changes = context_.state.pending(notebook_);
  if (!changes) return changes.error();
  const auto found = find_commit(*changes);
  if (!found) return found.error();
  if (!*found) return {};
  const std::set<std::string> named((*found)->values.begin(), (*found)->values.end());
  std::vector<PendingChange> made;
  std::vector<PendingChange> again;
  for (const PendingChange& change : *changes) {
    const bool is_named = named.contains(change.event_id);
    if (is_named) made.push_back(change);
    again.push_back(is_named ? PendingChange{.path = change.path, .since = change.since} : change);
  }
  const auto paths = notebook::paths_of(made);
  return store_commit({.hash = (*found)->hash,
                       .message = commit_message(paths, made),
                       .files = static_cast<std::int64_t>(paths.size())},
                      made, again, changes->back().number);
}

// The newest commit that names one of these events in its trailers and is not recorded.
Result<std::optional<TrailedCommit>> NotebookWorker::find_commit(const std::vector<PendingChange>& changes) {
  std::set<std::string> events;
  for (const PendingChange& change : changes) events.insert(change.event_id);
  auto commits = context_.repo.with_trailer(std::string(kEventTrailer));
  if (!commits) return commits.error();
  for (TrailedCommit& commit : *commits) {
    const auto first = std::find_if(commit.values.begin(), commit.values.end(),
                                    [&](const std::string& value) { return events.contains(value); });
    if (first == commit.values.end()) continue;
    const auto put_down = context_.state.commit_of(notebook_, *first);
    if (!put_down) return put_down.error();
    return *put_down == commit.hash ? std::nullopt : std::optional(std::move(commit));
  }
  return std::optional<TrailedCommit>();
}

void NotebookWorker::note_foreign_content(const ApplyUnit& unit) {
  for (const FileEvent& event : unit) {
    const Operation& operation = event.operation;
    const bool moved =
        operation.kind == OperationKind::move && uncommitted_foreign_.contains(operation.source);
    if (operation.kind == OperationKind::sync || moved) uncommitted_foreign_.insert(operation.path);
  }
}

// Commits uncommitted content of other programs before an operation replaces or deletes it. Returns the
// states of these files, in which they may be replaced.
Result<SafeToReplace> NotebookWorker::commit_foreign_content(const std::vector<ApplyUnit>& units) {
  SafeToReplace safe;
  SafeToReplace foreign;
  std::vector<PendingChange> changes;
  for (const ApplyUnit& unit : units) {
    for (const FileEvent& event : unit) {
      const Operation& operation = event.operation;
      const bool replaces = operation.kind == OperationKind::update && operation.content;
      if (!replaces && operation.kind != OperationKind::remove) continue;
      const auto there = context_.folder.file_state(operation.path);
      if (!there) continue;                                               // the Applier reports the error
      const bool too_large = context_.digests.is_too_large(there->size);  // so it cannot be committed
      const auto own = too_large ? Result<std::string>("") : own_content(operation.path, *there);
      if (!own) return own.error();
      safe.emplace(operation.path, SafeFile(*there, *own));
      if (too_large || !own->empty()) continue;
      foreign.emplace(operation.path, *there);
      changes.push_back({0, operation.path, event.event_id, event.correlation_id, context_.clock.now()});
    }
  }
  if (foreign.empty()) return safe;
  if (auto put = context_.state.add_pending(notebook_, changes); !put) return put.error();
  if (auto made = commit(foreign); !made) return made.error();
  // commit() has deleted these pending rows. Add them again before the operation runs, so that the next
  // commit has these files as the operation leaves them, also when it fails.
  if (auto put = context_.state.add_pending(notebook_, changes); !put) return put.error();
  return safe;
}

// The hash of the file's content, if that needs no commit before it is replaced; empty: it is another
// program's. A file that was only touched has its content still.
Result<std::string> NotebookWorker::own_content(const std::string& path, const FileState& there) {
  if (uncommitted_foreign_.contains(path)) return std::string();
  auto row = context_.state.file_at(notebook_, path);
  if (!row) return row.error();
  if (!*row) return std::string();
  if ((*row)->state == there) return std::move((*row)->hash);
  const auto digest = context_.digests.of(path);
  const bool is_same = digest && *digest && (*digest)->hash == (*row)->hash;
  return is_same ? std::move((*row)->hash) : std::string();
}

}  // namespace eventq::notebook
