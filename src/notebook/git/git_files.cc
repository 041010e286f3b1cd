// git_files.cc: see git_files.h.
#include "notebook/git/git_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/descriptor.h"
#include "notebook/files/digests.h"
#include "notebook/files/note_path.h"
#include "notebook/git/git_attributes.h"
#include "notebook/git/git_tree.h"

namespace eventq::notebook {
namespace {

constexpr std::size_t kBlobPiece = 64U << 10U;

Result<std::size_t> read_piece(int file, std::vector<char>& piece, const std::string& path) {
  ssize_t size = 0;
  do {
    size = ::read(file, piece.data(), piece.size());
  } while (size < 0 && errno == EINTR);
  if (size < 0) return git::system_failure("read " + path);
  return static_cast<std::size_t>(size);
}

// Stores the bytes unchanged.
Result<git_oid> write_blob(git_repository* repo, int file, const std::string& path) {
  git_oid id;
  std::vector<char> piece(kBlobPiece);
  auto size = read_piece(file, piece, path);
  if (!size) return size.error();
  // Most notes fit in one piece, which needs no temporary file.
  if (*size < kBlobPiece) {
    if (git_blob_create_from_buffer(&id, repo, piece.data(), *size) != 0)
      return git::failure("store " + path);
    return id;
  }
  git_writestream* stream = nullptr;
  if (git_blob_create_from_stream(&stream, repo, nullptr) != 0) return git::failure("store " + path);
  while (size && *size > 0) {
    if (stream->write(stream, piece.data(), *size) != 0) {
      size = git::failure("store " + path);
    } else {
      size = read_piece(file, piece, path);
    }
  }
  if (!size) {
    stream->free(stream);
    return size.error();
  }
  if (git_blob_create_from_stream_commit(&id, stream) != 0) return git::failure("store " + path);
  return id;
}

Result<std::string> read_all(int file, const std::string& path) {
  std::string content;
  std::vector<char> piece(kBlobPiece);
  for (;;) {
    const auto size = read_piece(file, piece, path);
    if (!size) return size.error();
    if (*size == 0) return content;
    content.append(piece.data(), *size);
  }
}

// Whether HEAD has the file as text with CR LF: then a guess leaves its line ends as they are.
Result<bool> has_recorded_crlf(git_repository* repo, const std::optional<git::Recorded>& before) {
  if (!before || before->mode == GIT_FILEMODE_COMMIT) return false;
  git::BlobHandle blob;
  if (git_blob_lookup(blob.out(), repo, &before->id) != 0) return git::failure("read a file of HEAD");
  return git::is_text_with_crlf({static_cast<const char*>(git_blob_rawcontent(blob)),
                                 static_cast<std::size_t>(git_blob_rawsize(blob))});
}

// The conversion needs the whole content, because its last byte can decide whether it is text.
Result<git_oid> write_converted(git_repository* repo, int file, const std::string& path, git::Conversion how,
                                const std::optional<git::Recorded>& before) {
  if (how == git::Conversion()) return write_blob(repo, file, path);
  auto content = read_all(file, path);
  if (!content) return content.error();
  if (how.ends == git::LineEnds::guess && git::is_text_with_crlf(*content)) {
    const auto stays = has_recorded_crlf(repo, before);
    if (!stays) return stays.error();
    if (*stays) how.ends = git::LineEnds::keep;
  }
  const std::string stored = git::converted(std::move(*content), how);
  git_oid id;
  if (git_blob_create_from_buffer(&id, repo, stored.data(), stored.size()) != 0) {
    return git::failure("store " + path);
  }
  return id;
}

std::optional<git_oid> find_blob(git_repository* repo, const std::string& id) {
  git_oid blob;
  git::OdbHandle objects;
  const bool is_there = git_oid_fromstr(&blob, id.c_str()) == 0 &&
                        git_repository_odb(objects.out(), repo) == 0 && git_odb_exists(objects, &blob) != 0;
  return is_there ? std::optional(blob) : std::nullopt;
}

// An index entry with the data of stat(), as `git add` fills it. Git compares it with the file and reads
// the file only if they differ, so `git status` stays fast.
git_index_entry entry_of(const struct stat& found, const git_oid& id, std::uint32_t mode) {
  const auto time = [](const timespec& at) {
    return git_index_time{static_cast<std::int32_t>(at.tv_sec), static_cast<std::uint32_t>(at.tv_nsec)};
  };
  git_index_entry entry{};
  entry.ctime = time(found.st_ctim);
  entry.mtime = time(found.st_mtim);
  entry.dev = static_cast<std::uint32_t>(found.st_dev);
  entry.ino = static_cast<std::uint32_t>(found.st_ino);
  entry.uid = found.st_uid;
  entry.gid = found.st_gid;
  entry.file_size = static_cast<std::uint32_t>(found.st_size);
  entry.mode = mode;
  entry.id = id;
  return entry;
}

bool trusts_modes(git_config* config) {
  int trusts = 1;
  git_config_get_bool(&trusts, config, "core.filemode");  // unset means true
  return trusts != 0;
}

// Without core.filemode the recorded executable bit stays.
std::uint32_t mode_of(const struct stat& found, git_config* config,
                      const std::optional<git::Recorded>& before) {
  bool executable = (found.st_mode & S_IXUSR) != 0;
  if (!trusts_modes(config)) executable = before && before->mode == GIT_FILEMODE_BLOB_EXECUTABLE;
  return executable ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB;
}

// Checked only for paths that HEAD does not have: a tracked file stays tracked.
bool is_ignored(git_repository* repo, const std::string& path) {
  int ignored = 0;
  return git_ignore_path_is_ignored(&ignored, repo, path.c_str()) == 0 && ignored == 1;
}

// Takes one path after the other; remembers the attributes and the folders of other repositories.
class PathTaker {
 public:
  explicit PathTaker(const StagingInput& in)
      : in_(in), attributes_(in.repo, in.config, in.index, in.folder) {}

  Result<void> take(const std::string& path);
  TakenPaths taken;

 private:
  enum class PathOutcome : std::uint8_t { stored, absent, left_out, filtered };
  Result<bool> is_of_another_repository(const std::string& path);
  Result<bool> is_link_to_commit(const std::string& path);
  [[nodiscard]] bool is_as_known(const std::string& path) const;
  [[nodiscard]] bool is_sparse(const std::string& path) const;
  [[nodiscard]] bool may_be_running_git(const std::string& path, const ChangedPath& change) const;
  Result<PathOutcome> store(const std::string& path, PathKind kind, ChangedPath& change);
  Result<void> replace_files_above(const std::string& path);
  Result<bool> must_filter(const std::string& path, git::Conversion& conversion);

  const StagingInput& in_;
  GitAttributes attributes_;
  std::map<std::string, bool> others_;  // by folder: whether it belongs to another repository
};

Result<void> PathTaker::take(const std::string& path) {
  const auto kind = in_.folder.kind(path);
  if (!kind) {
    taken.left_out.push_back(path);
    return {};
  }
  const auto other = is_of_another_repository(path);
  if (!other) return other.error();
  if (*kind == PathKind::other || *other) return {};
  auto before = entry_at(in_.head, path);
  if (!before) return before.error();
  ChangedPath change{.before = *before, .after = {}};
  const auto outcome = store(path, *kind, change);
  if (!outcome) return outcome.error();
  if (*outcome == PathOutcome::filtered) taken.filtered.push_back(path);
  if (*outcome == PathOutcome::left_out) taken.left_out.push_back(path);
  if (*outcome == PathOutcome::filtered || *outcome == PathOutcome::left_out) return {};
  const bool is_changed = change.after ? change.before != git::Recorded{change.after->id, change.after->mode}
                                       : change.before && !is_sparse(path);
  if (!is_changed) return {};
  if (may_be_running_git(path, change)) {
    taken.left_out.push_back(path);
    return {};
  }
  taken.changed.emplace(path, change);
  return change.before ? Result<void>() : replace_files_above(path);
}

// HEAD may have a file or a link where the path has a folder.
Result<void> PathTaker::replace_files_above(const std::string& path) {
  for (const std::string& folder : folders_of(path)) {
    const auto before = entry_at(in_.head, folder);
    if (!before) return before.error();
    if (*before) taken.changed.emplace(folder, ChangedPath{.before = *before, .after = {}});
  }
  return {};
}

// Whether `path` is a submodule, or lies in one or in a folder with its own repository.
Result<bool> PathTaker::is_of_another_repository(const std::string& path) {
  for (const std::string& folder : folders_of(path)) {
    auto [found, is_new] = others_.emplace(folder, false);
    if (is_new) {
      const auto link = is_link_to_commit(folder);
      if (!link) return link.error();
      const auto file = in_.folder.kind(folder + "/.git");
      const auto head = in_.folder.kind(folder + "/.git/HEAD");
      const bool has_own = (file && *file == PathKind::file) || (head && *head != PathKind::absent);
      found->second = *link || has_own;
    }
    if (found->second) return true;
  }
  return is_link_to_commit(path);
}

Result<bool> PathTaker::is_link_to_commit(const std::string& path) {
  if (in_.index != nullptr) {
    const auto staged = git::recorded(in_.index, path);
    if (staged && staged->mode == GIT_FILEMODE_COMMIT) return true;
  }
  const auto entry = entry_at(in_.head, path);
  if (!entry) return entry.error();
  return *entry && (*entry)->mode == GIT_FILEMODE_COMMIT;
}

bool PathTaker::is_as_known(const std::string& path) const {
  const auto known = in_.known.find(path);
  if (known == in_.known.end()) return true;
  const auto there = in_.folder.file_state(path);
  return there && *there == *known->second;
}

// Whether the user's sparse checkout omits the file: then its absence is no deletion.
bool PathTaker::is_sparse(const std::string& path) const {
  if (in_.index == nullptr) return false;
  const git_index_entry* entry = git_index_get_bypath(in_.index, path.c_str(), 0);
  git_error_clear();
  return entry != nullptr && (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) != 0;
}

// `git checkout` writes the index before it moves HEAD. Between the two, the index has the path as the file
// is, and HEAD has not.
bool PathTaker::may_be_running_git(const std::string& path, const ChangedPath& change) const {
  if (!in_.is_index_fresh || in_.index == nullptr) return false;
  const auto staged = git::recorded(in_.index, path);
  if (staged == change.before) return false;
  return change.after ? staged == git::Recorded{change.after->id, change.after->mode} : !staged;
}

Result<bool> PathTaker::must_filter(const std::string& path, git::Conversion& conversion) {
  auto stored_as = attributes_.of(path);
  if (!stored_as) return stored_as.error();
  conversion = stored_as->conversion;
  for (const std::string& filter : stored_as->filters) {
    if (!in_.bypassed.contains(filter)) return true;
  }
  return false;
}

Result<PathTaker::PathOutcome> PathTaker::store(const std::string& path, PathKind kind, ChangedPath& change) {
  const auto known = in_.known.find(path);
  // A file that appeared after its row was removed is detected later.
  if (known != in_.known.end() && !known->second) return PathOutcome::absent;
  if (!is_as_known(path)) return PathOutcome::left_out;
  if (kind != PathKind::file || (!change.before && is_ignored(in_.repo, path))) return PathOutcome::absent;
  git::Conversion conversion;
  const auto filter = must_filter(path, conversion);
  if (!filter) return filter.error();
  if (*filter) return PathOutcome::filtered;
  const auto file = in_.folder.open_file(path);
  if (!file) {
    const ErrorCode code = file.error().code;
    // The file vanished or became something else just now: the watcher reports that, and the path becomes
    // pending again.
    if (code == ErrorCode::not_found || code == ErrorCode::invalid_argument) return PathOutcome::absent;
    if (code == ErrorCode::unavailable) return PathOutcome::left_out;
    return file.error();
  }
  struct stat found {};
  if (::fstat(file->number(), &found) != 0) return git::system_failure("inspect " + path);
  std::optional<git_oid> stored;
  if (in_.blobs && found.st_size > kLargeBytes && conversion == git::Conversion()) {
    const auto there = in_.folder.file_state(path);
    const auto blob = there ? in_.blobs(path, *there) : std::nullopt;
    if (!blob) return PathOutcome::left_out;
    stored = find_blob(in_.repo, *blob);
  }
  const auto id = stored ? Result<git_oid>(*stored)
                         : write_converted(in_.repo, file->number(), path, conversion, change.before);
  if (!id) return id.error();
  // Check again: another program may have written to the file while it was read.
  if (!is_as_known(path)) return PathOutcome::left_out;
  change.after = entry_of(found, *id, mode_of(found, in_.config, change.before));
  return PathOutcome::stored;
}

}  // namespace

Result<TakenPaths> take_paths(const StagingInput& in, const std::vector<std::string>& paths) {
  PathTaker taker(in);
  for (const std::string& path : paths) {
    if (auto done = taker.take(path); !done) return done.error();
  }
  return std::move(taker.taken);
}

}  // namespace eventq::notebook
