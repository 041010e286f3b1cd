// change_detection.cc: see change_detection.h.
#include "notebook/watch/change_detection.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "notebook/apply/returning_file.h"
#include "notebook/files/note_path.h"

namespace eventq::notebook {
namespace {

constexpr std::size_t kRowsAtOnce = 1000;
// FAT has the coarsest modification times in use: 2 seconds.
constexpr std::chrono::seconds kTick{2};

enum class ChangeKind : std::uint8_t { deleted, created, modified, moved };

struct DetectedChange {
  ChangeKind kind{};
  std::string source;  // the path before a move
  FileState state;     // of the file, or of a deleted one
  std::string hash;
};

// Collects at most one change per path.
class ChangeDetector {
 public:
  explicit ChangeDetector(const DetectionInput& in) : in_(in) {}

  Result<void> compare(const std::string& path);
  // Joins a deletion at `source`, or in it, and a creation at `path` to a move.
  Result<void> pair_renamed(const std::string& source, const std::string& path);
  // Joins deletions and creations with the same inode and content to moves.
  Result<void> pair_same();
  [[nodiscard]] std::vector<Operation> operations() const;

 private:
  // Replaces the deletion at `source` and the creation at `path` by one move, if both were detected.
  Result<void> pair(const std::string& source, const std::string& path);
  // A rename that inotify saw: the same inode or content is the same file.
  Result<void> pair_seen(const std::string& source, const std::string& path);

  const DetectionInput in_;
  std::map<std::string, DetectedChange> changes_;
};

Result<void> ChangeDetector::compare(const std::string& path) {
  if (in_.ignores != nullptr && in_.ignores->is_in_ignored_folder(path)) {
    const auto row = in_.state.file_at(in_.notebook, path);
    if (!row) return row.error();
    if (!*row) return {};
  }
  const auto read = in_.digests.of(path);
  if (!read && read.error().code == ErrorCode::conflict) {
    // It is being written without pause. Its content is not known, but that it differs is.
    changes_[path] = {.kind = ChangeKind::modified, .source = "", .state = {}, .hash = ""};
    return {};
  }
  if (!read && read.error().code != ErrorCode::not_found &&
      read.error().code != ErrorCode::invalid_argument) {
    return {};  // unreadable now; the change that makes it readable touches the path again
  }
  if (read && !*read) return {};  // a large file, which is compared when it is hashed
  const std::optional<Digest> digest = read ? *read : std::nullopt;
  std::optional<OwnWrites::WrittenContent> found;
  if (digest) found = OwnWrites::WrittenContent{digest->state.size, digest->hash};
  // Check the own writes before the rows: the Applier clears an own write only after its row is stored.
  if (in_.own_writes.is_announced(path, found)) return {};
  auto row = in_.state.file_at(in_.notebook, path);
  if (!row) return row.error();
  const FileRow* const known = *row && !(*row)->folder ? &**row : nullptr;
  if (known == nullptr) {
    if (digest) changes_[path] = {ChangeKind::created, "", digest->state, digest->hash};
  } else if (!digest) {
    changes_[path] = {ChangeKind::deleted, "", known->state, known->hash};
  } else if (!is_unchanged(*known, *digest)) {
    changes_[path] = {ChangeKind::modified, "", digest->state, digest->hash};
  }
  return {};
}

Result<void> ChangeDetector::pair(const std::string& source, const std::string& path) {
  const auto from = changes_.find(source);
  const auto to = changes_.find(path);
  if (from == changes_.end() || from->second.kind != ChangeKind::deleted) return {};
  if (to == changes_.end() || to->second.kind != ChangeKind::created) return {};
  // If a folder now has the source's path, its row must be removed first, so keep a separate deletion.
  const auto left = in_.folder.kind(source);
  if (!left) return left.error();
  if (*left == PathKind::folder) return {};
  to->second.kind = ChangeKind::moved;
  to->second.source = source;
  changes_.erase(from);
  return {};
}

Result<void> ChangeDetector::pair_seen(const std::string& source, const std::string& path) {
  const auto from = changes_.find(source);
  const auto to = changes_.find(path);
  if (from == changes_.end() || to == changes_.end()) return {};
  const bool is_same =
      from->second.hash == to->second.hash || from->second.state.inode == to->second.state.inode;
  return is_same ? pair(source, path) : Result<void>();
}

Result<void> ChangeDetector::pair_renamed(const std::string& source, const std::string& path) {
  std::vector<std::string> inner;
  const std::string start = source + "/";
  for (auto at = changes_.lower_bound(start); at != changes_.end() && at->first.starts_with(start); ++at) {
    inner.push_back(at->first);
  }
  for (const std::string& file : inner) {
    if (auto paired = pair_seen(file, path + file.substr(source.size())); !paired) return paired;
  }
  return pair_seen(source, path);
}

Result<void> ChangeDetector::pair_same() {
  std::unordered_map<std::uint64_t, std::string> deleted;
  for (const auto& [path, change] : changes_) {
    if (change.kind == ChangeKind::deleted) deleted.emplace(change.state.inode, path);
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [path, change] : changes_) {
    if (change.kind != ChangeKind::created) continue;
    const auto same = deleted.find(change.state.inode);
    if (same == deleted.end()) continue;
    const DetectedChange& before = changes_.at(same->second);
    if (!is_same_file(before.state, before.hash, change.state, change.hash)) continue;
    pairs.emplace_back(same->second, path);
    deleted.erase(same);
  }
  for (const auto& [source, path] : pairs) {
    if (auto paired = pair(source, path); !paired) return paired;
  }
  return {};
}

std::vector<Operation> ChangeDetector::operations() const {
  std::vector<Operation> operations;
  const auto add = [&](ChangeKind kind, const char* event) {
    for (const auto& [path, change] : changes_) {
      if (change.kind != kind) continue;
      operations.push_back(
          {.kind = OperationKind::sync, .path = path, .source = change.source, .event = event});
    }
  };
  // Deletions first: a row must be removed before another row can take its path.
  add(ChangeKind::deleted, "deleted");
  add(ChangeKind::moved, "moved");
  add(ChangeKind::created, "created");
  add(ChangeKind::modified, "modified");
  return operations;
}

// Expands touched paths to files, on disk and in the NotebookState.
Result<std::set<std::string>> touched_files(const DetectionInput& in,
                                            const std::vector<TouchedPath>& touched) {
  std::set<std::string> paths;  // sorted, so a folder comes before its files
  for (const TouchedPath& one : touched) {
    paths.insert(one.path);
    if (!one.source.empty()) paths.insert(one.source);
  }
  for (const std::string& path : paths) in.digests.forget_troubles(path);  // compare() notes the current ones
  std::set<std::string> files;
  std::unordered_set<std::string> folders;  // folders that have been walked
  for (const std::string& path : paths) {
    const auto above = folders_of(path);
    if (std::any_of(above.begin(), above.end(), [&](const auto& name) { return folders.contains(name); }))
      continue;
    files.insert(path);
    const auto kind = in.folder.kind(path);
    if (!kind) continue;  // unreadable now, as in compare()
    const auto rows = in.state.files_within(in.notebook, path, FileFilter::files);
    if (!rows) return rows.error();
    for (const FileRow& row : *rows) files.insert(row.path);
    if (*kind != PathKind::folder) continue;
    folders.insert(path);
    const auto walked = in.folder.walk(path, [&](const Folder::WalkEntry& seen) {
      if (seen.kind == PathKind::file) files.insert(seen.path);
      if (seen.unreadable) in.digests.note_unreadable(seen.path);
    });
    if (!walked) return walked.error();
  }
  return files;
}

bool is_near(std::int64_t time_ns, TimePoint other) {
  const std::chrono::nanoseconds distance =
      std::chrono::nanoseconds(time_ns) - std::chrono::nanoseconds(other.time_since_epoch());
  return std::chrono::abs(distance) <= kTick;
}

// The stored state of a file and when it was stored.
struct KnownFile {
  FileState state;
  TimePoint updated_at;
  bool hashed;
};

Result<std::unordered_map<std::string, KnownFile>> known_files(const DetectionInput& in) {
  std::unordered_map<std::string, KnownFile> files;
  std::string after;
  for (;;) {
    auto rows = in.state.files(in.notebook, FileFilter::files, after, kRowsAtOnce);
    if (!rows) return rows.error();
    for (FileRow& row : *rows)
      files.emplace(row.path, KnownFile{row.state, row.updated_at, !row.hash.empty()});
    if (rows->size() < kRowsAtOnce) return files;
    after = std::move(rows->back().path);
  }
}

// In a deleted folder no file is found, so every file would count as deleted.
Result<void> check_there(const Folder& folder) {
  struct stat status {};
  if (::fstat(folder.descriptor(), &status) == 0 && status.st_nlink > 0) return {};
  return Error{ErrorCode::unavailable, "The notebook's folder has been deleted; put it back."};
}

}  // namespace

Result<std::vector<Operation>> find_changes(const DetectionInput& in,
                                            const std::vector<TouchedPath>& touched) {
  const auto files = touched_files(in, touched);
  if (!files) return files.error();
  if (auto there = check_there(in.folder); !there) return there.error();
  ChangeDetector changes(in);
  for (const std::string& path : *files) {
    if (auto compared = changes.compare(path); !compared) return compared.error();
  }
  for (const TouchedPath& one : touched) {
    if (one.source.empty()) continue;
    if (auto paired = changes.pair_renamed(one.source, one.path); !paired) return paired.error();
  }
  if (auto paired = changes.pair_same(); !paired) return paired.error();
  return changes.operations();
}

Result<std::vector<Operation>> find_all_changes(const DetectionInput& in, TimePoint now) {
  auto known = known_files(in);
  if (!known) return known.error();
  std::vector<std::string> doubtful;
  in.digests.forget_troubles("");
  const auto walked = in.folder.walk("", [&](const Folder::WalkEntry& seen) {
    if (seen.unreadable) in.digests.note_unreadable(seen.path);
    if (seen.kind != PathKind::file) return;
    const bool too_large = in.digests.is_too_large(seen.state.size);
    if (too_large) in.digests.note_too_large(seen.path);
    const auto row = known->extract(seen.path);
    if (row.empty() || row.mapped().state != seen.state || row.mapped().hashed == too_large ||
        is_near(seen.state.modified_ns, now) || is_near(seen.state.modified_ns, row.mapped().updated_at)) {
      doubtful.push_back(seen.path);
    }
  });
  if (!walked) return walked.error();
  if (auto there = check_there(in.folder); !there) return there.error();
  for (const auto& [path, row] : *known) doubtful.push_back(path);
  ChangeDetector changes(in);
  for (const std::string& path : doubtful) {
    if (auto compared = changes.compare(path); !compared) return compared.error();
  }
  if (auto paired = changes.pair_same(); !paired) return paired.error();
  return changes.operations();
}

}  // namespace eventq::notebook
