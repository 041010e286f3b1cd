// git_files.cc: see git_files.h.
#include "notebook/git/git_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/descriptor.h"
#include "notebook/files/note_path.h"

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

// Stores the bytes unchanged: no filter is run.
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

// Whether `path` is a submodule or lies in one.
bool is_submodules(git_index* files, const std::string& path) {
  const auto is_link = [&](const std::string& name) {
    const auto found = git::recorded(files, name);
    return found && found->mode == GIT_FILEMODE_COMMIT;
  };
  for (const std::string& folder : folders_of(path)) {
    if (is_link(folder)) return true;
  }
  return is_link(path);
}

// Checked only for paths that HEAD does not have: a tracked file stays tracked.
bool is_ignored(git_repository* repo, const std::string& path) {
  int ignored = 0;
  return git_ignore_path_is_ignored(&ignored, repo, path.c_str()) == 0 && ignored == 1;
}

// Whether the user's sparse checkout omits the file: then its absence is no deletion.
bool is_left_out(git_repository* repo, git::IndexHandle& users, const std::string& path) {
  const std::string name = std::string(git_repository_path(repo)) + "index";
  if (users == nullptr && git_index_open(users.out(), name.c_str()) != 0) return false;
  const git_index_entry* entry = git_index_get_bypath(users, path.c_str(), 0);
  return entry != nullptr && (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) != 0;
}

// What the commit gets for one path.
struct TakenFile {
  bool left_out = false;                 // it cannot be read, or is not as known
  std::optional<git_index_entry> entry;  // empty: no file to commit
};

Result<TakenFile> take_path(const StagingInput& in, const std::string& path, PathKind kind,
                            const std::optional<git::Recorded>& before) {
  const auto known = in.known.find(path);
  const bool is_known = known != in.known.end();
  // A file that appeared after its row was removed is detected later.
  if (is_known && !known->second) return TakenFile{};
  const auto is_as_known = [&] {
    const auto there = in.folder.file_state(path);
    return !is_known || (there && *there == *known->second);
  };
  if (!is_as_known()) return TakenFile{.left_out = true};
  if (kind != PathKind::file || (!before && is_ignored(in.repo, path))) return TakenFile{};
  const auto file = in.folder.open_file(path);
  if (!file) {
    const ErrorCode code = file.error().code;
    // The file vanished or became something else just now: the watcher reports that, and the path becomes
    // pending again.
    if (code == ErrorCode::not_found || code == ErrorCode::invalid_argument) return TakenFile{};
    if (code == ErrorCode::unavailable) return TakenFile{.left_out = true};
    return file.error();
  }
  struct stat found {};
  if (::fstat(file->number(), &found) != 0) return git::system_failure("inspect " + path);
  const auto id = write_blob(in.repo, file->number(), path);
  if (!id) return id.error();
  // Check again: another program may have written to the file while it was read.
  if (!is_as_known()) return TakenFile{.left_out = true};
  return TakenFile{.entry = entry_of(found, *id, mode_of(found, in.config, before))};
}

}  // namespace

Result<Unstaged> take_paths(const StagingInput& in, const std::vector<std::string>& paths,
                            std::vector<std::string>& left_out) {
  Unstaged changed;
  git::IndexHandle users;
  std::vector<std::pair<std::string, git_index_entry>> present;
  for (const std::string& path : paths) {
    const auto kind = in.folder.kind(path);
    if (kind && (*kind == PathKind::other || is_submodules(in.files, path))) continue;
    const auto before = git::recorded(in.files, path);
    const auto taken = kind ? take_path(in, path, *kind, before) : TakenFile{.left_out = true};
    if (!taken) return taken.error();
    const auto& entry = taken->entry;
    if (taken->left_out) {
      left_out.push_back(path);
    } else if (entry && before != git::Recorded{entry->id, entry->mode}) {
      changed.emplace(path, before);
      present.emplace_back(path, *entry);
    } else if (!entry && before && !is_left_out(in.repo, users, path)) {
      changed.emplace(path, before);
      if (git_index_remove(in.files, path.c_str(), 0) != 0) return git::failure("remove " + path);
    }
  }
  // Add after all removals: a file may replace a folder whose entries had to go first.
  for (auto& [path, entry] : present) {
    entry.path = path.c_str();
    if (git_index_add(in.files, &entry) != 0) return git::failure("record " + path);
  }
  return changed;
}

}  // namespace eventq::notebook
