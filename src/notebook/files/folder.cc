// folder.cc: see folder.h.
#include "notebook/files/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "base/assert.h"
#include "notebook/files/note_path.h"
#include "notebook/files/sha256.h"

namespace eventq::notebook {
namespace {

constexpr std::size_t kPiece = 128UL * 1024;
constexpr std::size_t kBeginning = 4096;  // bytes that content_type_of() examines
// More than enough for bursts of renames: each retry needs another concurrent rename.
constexpr int kOpenTries = 16;
constexpr int kDigestTries = 3;
constexpr mode_t kPermissions = 0777;

ErrorCode code_of(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::not_found;
    case EEXIST:
    case ENOTEMPTY: return ErrorCode::conflict;
    case ENOSPC:
    case EDQUOT: return ErrorCode::no_space;
    case ELOOP:
    case EXDEV:
    case EISDIR:
    case ENXIO:  // a socket
    case ENODEV:
    case ENAMETOOLONG: return ErrorCode::invalid_argument;
    default: return ErrorCode::unavailable;
  }
}

Error failed(std::string_view doing, const std::string& path, int number) {
  std::string message = "Cannot " + std::string(doing) + " " +
                        (path.empty() ? "the notebook's folder" : path) + ": " + std::strerror(number);
  message += number == ELOOP ? "; a notebook follows no symbolic link." : ".";
  return {code_of(number), std::move(message)};
}

Error not_regular(const std::string& path) {
  return {ErrorCode::invalid_argument, path + " is no regular file; a notebook holds only regular files."};
}

Descriptor open_folder(int root, const std::string& path) {
  return open_beneath(root, path, O_RDONLY | O_DIRECTORY);
}

// An opened parent folder and the last name of a path. Calls by name relative to the descriptor cannot be
// redirected by a link.
struct ParentAndName {
  Descriptor folder;
  std::string name;
};

ParentAndName open_parent(int root, const std::string& path) {
  const std::string_view parent = parent_of(path);
  Descriptor folder = open_beneath(root, std::string(parent), O_PATH | O_DIRECTORY);
  return {std::move(folder), path.substr(parent.empty() ? 0 : parent.size() + 1)};
}

FileState state_of(const struct stat& status) {
  return {.inode = status.st_ino,
          .size = status.st_size,
          .modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec,
          .executable = (status.st_mode & S_IXUSR) != 0};
}

PathKind kind_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return PathKind::file;
  return S_ISDIR(status.st_mode) ? PathKind::folder : PathKind::other;
}

PathKind kind_of(const Descriptor& folder, const dirent& entry) {
  if (entry.d_type == DT_DIR) return PathKind::folder;
  if (entry.d_type == DT_REG) return PathKind::file;
  struct stat found {};
  // Some file systems do not fill in the type.
  const bool is_other = entry.d_type != DT_UNKNOWN ||
                        ::fstatat(folder.number(), entry.d_name, &found, AT_SYMLINK_NOFOLLOW) != 0;
  return is_other ? PathKind::other : kind_of(found);
}

Result<struct stat> status_of(const Descriptor& opened, const std::string& path) {
  struct stat status {};
  if (::fstat(opened.number(), &status) != 0) return failed("inspect", path, errno);
  return status;
}

// O_PATH does not open the thing itself, so a fifo does not block and a device is not touched.
Result<struct stat> status_at(int root, const std::string& path) {
  const Descriptor found = open_beneath(root, path, O_PATH | O_NOFOLLOW);
  if (!found.open()) return failed("inspect", path, errno);
  return status_of(found, path);
}

// Reads until `into` is full or the file ends; negative with errno set.
ssize_t read_some(int descriptor, std::span<char> into) {
  std::size_t count = 0;
  while (count < into.size()) {
    const ssize_t got = ::read(descriptor, into.data() + count, into.size() - count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return got;
    if (got == 0) break;
    count += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(count);
}

// Returns false with errno set.
bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool must_stop(const DigestLimits& limits) {
  return limits.stop != nullptr && limits.stop->load(std::memory_order_relaxed);
}

Error changing(const std::string& path) {
  return {ErrorCode::conflict, path + " changes while it is read; try again when it is left alone."};
}

Result<Digest> digest_of(const Descriptor& file, const std::string& path, std::int64_t size,
                         const DigestLimits& limits) {
  std::vector<char> piece(static_cast<std::size_t>(std::clamp<std::int64_t>(size, kBeginning, kPiece)));
  const bool is_too_large = size > limits.max_bytes;
  Sha256 hash;
  GitBlobHash blob(size);
  std::string beginning;
  std::int64_t left = size;
  while (left > 0) {
    // The size says where the file ends: a file that has more or less by now has another state afterwards.
    const auto next = std::span(piece).first(static_cast<std::size_t>(std::min<std::int64_t>(left, kPiece)));
    const ssize_t got = read_some(file.number(), next);
    if (got < 0) return failed("read", path, errno);
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
    if (beginning.empty()) beginning = bytes.substr(0, kBeginning);
    if (is_too_large) break;
    if (must_stop(limits) || bytes.size() < next.size()) return changing(path);
    hash.add(bytes);
    blob.add(bytes);
    left -= got;
  }
  const auto after = status_of(file, path);
  if (!after) return after.error();
  Digest digest{.state = state_of(*after), .content_type = content_type_of(path, beginning)};
  if (is_too_large) return digest;
  digest.hash = hash.hexadecimal();
  digest.blob = blob.hexadecimal();
  return digest;
}

bool has_vanished(int number) { return number == ENOENT || number == ENOTDIR || number == ELOOP; }

}  // namespace

Descriptor open_beneath(int root, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const char* const name = path.empty() ? "." : path.c_str();
  long number = -1;
  // openat2() returns EAGAIN when a concurrent rename keeps the kernel from proving that the path stays
  // beneath `root`: retry.
  for (int tries = 0; tries < kOpenTries; ++tries) {
    number = ::syscall(SYS_openat2, root, name, &how, sizeof how);
    if (number >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return Descriptor(static_cast<int>(number));
}

bool is_at(const Descriptor& opened, const std::string& path) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(opened.number(), &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

std::vector<FolderEntry> entries_of(const Descriptor& folder, int& error) {
  std::vector<FolderEntry> entries;
  Descriptor copy(::fcntl(folder.number(), F_DUPFD_CLOEXEC, 0));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(copy.open() ? ::fdopendir(copy.number()) : nullptr,
                                                   ::closedir);
  error = errno;
  if (!stream) return entries;
  (void)copy.release();  // closedir() closes it
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    error = errno;
    if (entry == nullptr) return entries;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") entries.push_back({std::string(name), kind_of(folder, *entry)});
  }
}

std::string hash_of(std::string_view content) {
  Sha256 hash;
  hash.add(content);
  return hash.hexadecimal();
}

Result<Folder> Folder::open(const std::string& path, mode_t mask) {
  Descriptor root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root.open()) return Folder(std::move(root), mask & kPermissions);
  const int number = errno;
  Error error = failed("open the folder", path, number);
  if (number == ENOTDIR) error.code = ErrorCode::invalid_argument;
  return error;
}

Result<PathKind> Folder::kind(const std::string& path) const {
  const Descriptor found = open_beneath(root_.number(), path, O_PATH | O_NOFOLLOW);
  if (!found.open() && has_vanished(errno)) return PathKind::absent;
  if (!found.open()) return failed("inspect", path, errno);
  const auto status = status_of(found, path);
  if (!status) return status.error();
  return kind_of(*status);
}

Result<FileState> Folder::file_state(const std::string& path) const {
  const auto status = status_at(root_.number(), path);
  if (!status) return status.error();
  if (kind_of(*status) != PathKind::file) return not_regular(path);
  return state_of(*status);
}

Result<Descriptor> Folder::open_file(const std::string& path) const {
  // O_NONBLOCK: opening a fifo must not block.
  Descriptor file = open_beneath(root_.number(), path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!file.open()) return failed("open", path, errno);
  const auto status = status_of(file, path);
  if (!status) return status.error();
  if (kind_of(*status) != PathKind::file) return not_regular(path);
  return file;
}

Result<std::string> Folder::read(const std::string& path, std::size_t max) const {
  const auto file = open_file(path);
  if (!file) return file.error();
  const auto status = status_of(*file, path);
  if (!status) return status.error();
  const Error too_large{ErrorCode::too_large, path + " has more than the " + std::to_string(max) +
                                                  " bytes that can be read at once."};
  if (static_cast<std::uint64_t>(status->st_size) > max) return too_large;

  // One byte more than the file has: a full buffer means that the file grew.
  std::string content(static_cast<std::size_t>(status->st_size) + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    const ssize_t got = read_some(file->number(), std::span(content).subspan(size));
    if (got < 0) return failed("read", path, errno);
    size += static_cast<std::size_t>(got);
    if (size > max) return too_large;
    if (size < content.size()) break;
    content.resize(std::min(2 * content.size(), max + 1));
  }
  content.resize(size);
  return content;
}

// A file that another program touches without a pause never has the same time twice. Its content counts as
// stable when two reads in a row find the same.
Result<Digest> Folder::digest(const std::string& path, const DigestLimits& limits) const {
  std::optional<Digest> last;
  for (int tries = 0; tries < kDigestTries && !must_stop(limits); ++tries) {
    const auto file = open_file(path);
    if (!file) return file.error();
    const auto before = status_of(*file, path);
    if (!before) return before.error();
    auto digest = digest_of(*file, path, before->st_size, limits);
    if (!digest || digest->state == state_of(*before)) return digest;
    const bool is_same = last && last->state.size == digest->state.size && last->hash == digest->hash;
    if (is_same && !digest->hash.empty()) return digest;
    last = std::move(*digest);
  }
  return changing(path);
}

Result<FileState> Folder::write_own(const std::string& path, std::string_view content,
                                    const std::string& like) {
  EVENTQ_ASSERT(is_within(path, kOwnFolder));
  mode_t mode = 0666 & ~mask_;
  if (!like.empty()) {
    const auto old = status_at(root_.number(), like);
    if (!old && old.error().code == ErrorCode::unavailable) return old.error();
    if (old && kind_of(*old) == PathKind::file) mode = old->st_mode & kPermissions;
  }
  const ParentAndName entry = open_parent(root_.number(), path);
  if (!entry.folder.open()) return failed("write", path, errno);
  const Descriptor file = open_beneath(entry.folder.number(), entry.name, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file.open()) return failed("write", path, errno);
  struct stat status {};
  // fchmod() because the process's umask may remove more permissions than the notebook's mask.
  const bool written = write_all(file.number(), content) && ::fchmod(file.number(), mode) == 0 &&
                       ::fstat(file.number(), &status) == 0;
  if (written) return state_of(status);
  const int number = errno;
  ::unlinkat(entry.folder.number(), entry.name.c_str(), 0);
  return failed("write", path, number);
}

Result<void> Folder::sync_file(const std::string& path) const {
  const auto file = open_file(path);
  if (!file) return file.error();
  if (::fsync(file->number()) != 0) return failed("sync", path, errno);
  return {};
}

Result<void> Folder::sync_folder(const std::string& path) const {
  const Descriptor folder = open_folder(root_.number(), path);
  if (!folder.open() || ::fsync(folder.number()) != 0) return failed("sync", path, errno);
  return {};
}

Result<void> Folder::sync_all() const {
  if (::syncfs(root_.number()) != 0) return failed("sync", "", errno);
  return {};
}

Result<void> Folder::rename(const std::string& from, const std::string& to, Rename how) {
  const std::string what = from + " to " + to;
  const ParentAndName source = open_parent(root_.number(), from);
  if (!source.folder.open()) return failed("rename", what, errno);
  const ParentAndName dest = open_parent(root_.number(), to);
  if (!dest.folder.open()) return failed("rename", what, errno);
  const unsigned flags = how == Rename::exchange ? RENAME_EXCHANGE : RENAME_NOREPLACE;
  if (::renameat2(source.folder.number(), source.name.c_str(), dest.folder.number(), dest.name.c_str(),
                  flags) != 0) {
    return failed("rename", what, errno);
  }
  return {};
}

Result<void> Folder::make_folder(const std::string& path) {
  const ParentAndName entry = open_parent(root_.number(), path);
  if (!entry.folder.open()) return failed("make the folder", path, errno);
  if (::mkdirat(entry.folder.number(), entry.name.c_str(), kPermissions & ~mask_) != 0) {
    const int number = errno;
    const auto there = kind(path);
    if (number == EEXIST && there && *there == PathKind::folder) return {};
    return failed("make the folder", path, number);
  }
  const Descriptor folder = open_folder(entry.folder.number(), entry.name);
  if (!folder.open()) return failed("open the folder", path, errno);
  const auto made = status_of(folder, path);
  if (!made) return made.error();
  // mkdirat() also applies the umask of the process, which may be stricter than mask_. So set the mode again,
  // and keep the set-group-ID bit that the new folder inherits from its parent.
  const mode_t mode =
      (made->st_mode & ~static_cast<mode_t>(S_IFMT) & ~kPermissions) | (kPermissions & ~mask_);
  if (::fchmod(folder.number(), mode) != 0) return failed("make the folder", path, errno);
  return {};
}

Result<void> Folder::remove_file(const std::string& path) {
  const ParentAndName entry = open_parent(root_.number(), path);
  const bool removed = entry.folder.open() && ::unlinkat(entry.folder.number(), entry.name.c_str(), 0) == 0;
  if (!removed && code_of(errno) != ErrorCode::not_found) return failed("remove", path, errno);
  return {};
}

Result<void> Folder::remove_empty_folder(const std::string& path) {
  const ParentAndName entry = open_parent(root_.number(), path);
  if (entry.folder.open() && ::unlinkat(entry.folder.number(), entry.name.c_str(), AT_REMOVEDIR) == 0)
    return {};
  const ErrorCode code = code_of(errno);
  if (code == ErrorCode::not_found || code == ErrorCode::conflict) return {};
  return failed("remove the folder", path, errno);
}

Result<Descriptor> Folder::lock() const {
  Descriptor folder = open_folder(root_.number(), "");
  if (!folder.open()) return failed("open", "the notebook's folder", errno);
  if (::flock(folder.number(), LOCK_EX | LOCK_NB) == 0) return folder;
  return Error{ErrorCode::unavailable, "Another server has this folder as a notebook; stop that one first."};
}

Result<void> Folder::clear_own() {
  const std::string own(kOwnFolder);
  const Descriptor opened = open_folder(root_.number(), own);
  if (!opened.open() && has_vanished(errno)) return {};
  if (!opened.open()) return failed("read", own, errno);
  int error = 0;
  for (const FolderEntry& entry : entries_of(opened, error)) {
    if (entry.kind == PathKind::folder) continue;
    if (auto removed = remove_file(own + "/" + entry.name); !removed) return removed;
  }
  if (error != 0 && error != ENOENT) return failed("read", own, error);
  return {};
}

Result<void> Folder::walk(const std::string& path, const std::function<void(const WalkEntry&)>& visit) const {
  std::vector<std::string> folders = {path};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    const Descriptor opened = open_folder(root_.number(), folder);
    const bool is_unreadable = !opened.open() && !folder.empty() &&
                               errno == EACCES;  // an unreadable folder; the watcher skips it too
    if (!opened.open() && (has_vanished(errno) || is_unreadable)) {
      if (is_unreadable) visit({.path = folder, .kind = PathKind::folder, .unreadable = true});
      continue;
    }
    if (!opened.open()) return failed("read", folder, errno);
    int error = 0;
    const auto entries = entries_of(opened, error);
    if (error != 0 && error != ENOENT) return failed("read", folder, error);
    for (const FolderEntry& entry : entries) {
      std::string full = folder.empty() ? entry.name : folder + "/" + entry.name;
      struct stat status {};
      if (!note_path(full)) continue;
      if (::fstatat(opened.number(), entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) continue;
        return failed("inspect", full, errno);
      }
      const PathKind kind = kind_of(status);
      if (kind == PathKind::other) continue;
      if (kind == PathKind::folder) folders.push_back(full);
      visit({std::move(full), kind, kind == PathKind::file ? state_of(status) : FileState()});
    }
  }
  return {};
}

}  // namespace eventq::notebook
