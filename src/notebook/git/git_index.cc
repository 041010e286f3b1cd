// git_index.cc: see git_index.h.
#include "notebook/git/git_index.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/steady.h"
#include "notebook/files/note_path.h"

namespace eventq::notebook {
namespace {

constexpr const char* kIndex = "index";
constexpr const char* kLock = "index.lock";
constexpr const char* kBefore = "index.eventq-lock";      // the lock file before it is renamed to index.lock
constexpr const char* kNew = "index.eventq";              // the new index, or after exchange() the old one
constexpr const char* kNewLock = "index.eventq.lock";     // libgit2's lock while it writes index.eventq
constexpr std::string_view kMark = "locked by eventq\n";  // content of a lock file of eventq

constexpr int kLockWaitMs = 2000;  // the longest wait for index.lock, also if its holder changes

// A lock with our mark that no living process holds by flock() was left by a killed eventq.
bool is_our_stale_lock(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.open()) return false;
  std::array<char, kMark.size() + 1> text{};
  const ssize_t size = ::read(file.number(), text.data(), text.size());
  if (size < 0 || std::string_view(text.data(), static_cast<std::size_t>(size)) != kMark) return false;
  return ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

std::optional<LockStamp> stamp_of(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  return LockStamp{found.st_ino, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

// Git trusts an entry whose file is older than the index ("racy git"). Writing the index makes it newer, so
// entries that git did not trust would look trusted. Size 0 makes git compare them again.
void keep_racy_entries(git_index* index, std::int64_t index_seconds) {
  std::vector<git_index_entry> racy;
  for (std::size_t at = 0; at < git_index_entrycount(index); ++at) {
    const git_index_entry* entry = git_index_get_byindex(index, at);
    if (entry->mtime.seconds >= index_seconds && entry->file_size != 0) racy.push_back(*entry);
  }
  for (git_index_entry& entry : racy) {
    const std::string path = entry.path;  // git_index_add() frees the path of the entry that it replaces
    entry.path = path.c_str();
    entry.file_size = 0;
    git_index_add(index, &entry);
  }
}

bool has_conflict(git_index* index, const std::string& path) {
  const git_index_entry* sides[3];
  return git_index_conflict_get(&sides[0], &sides[1], &sides[2], index, path.c_str()) == 0;
}

// A file cannot be added where the user staged a folder, or below a staged file.
bool can_add(git_index* index, const std::string& path) {
  if (git_index_find_prefix(nullptr, index, (path + "/").c_str()) == 0) return false;
  for (const std::string& folder : folders_of(path)) {
    if (git_index_get_bypath(index, folder.c_str(), 0) != nullptr) return false;
  }
  return true;
}

// Whether the user has staged nothing for `path`. An intent-to-add entry (`git add -N`) counts as nothing
// staged.
bool is_unstaged(git_index* index, const std::string& path, const std::optional<git::Recorded>& before) {
  const git_index_entry* there = git_index_get_bypath(index, path.c_str(), 0);
  const bool is_meant = there != nullptr && (there->flags_extended & GIT_INDEX_ENTRY_INTENT_TO_ADD) != 0;
  return is_meant ? !before : git::recorded(index, path) == before;
}

// Adds the entry and keeps the flags that the user set with `git update-index`.
bool put_entry(git_index* index, const git_index_entry& wanted) {
  git_index_entry entry = wanted;
  if (const git_index_entry* there = git_index_get_bypath(index, wanted.path, 0)) {
    entry.flags |= there->flags & GIT_INDEX_ENTRY_VALID;
    entry.flags_extended |= there->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE;
  }
  return git_index_add(index, &entry) == 0;
}

bool follow(git_index* index, const Unstaged& unstaged, const EntryAfter& after) {
  std::vector<std::pair<std::string, git_index_entry>> to_add;
  for (const auto& [path, before] : unstaged) {
    if (has_conflict(index, path) || !is_unstaged(index, path, before)) continue;
    if (const auto entry = after(path)) {
      to_add.emplace_back(path, *entry);
    } else if (before && git_index_remove(index, path.c_str(), 0) != 0) {
      return false;
    }
  }
  // Add after all removals: a file may replace a folder whose entries had to go first.
  for (auto& [path, entry] : to_add) {
    entry.path = path.c_str();
    if (can_add(index, path) && !put_entry(index, entry)) return false;
  }
  return true;
}

}  // namespace

Result<std::optional<UserIndex>> UserIndex::lock(const std::string& folder, LockStamp& held) {
  UserIndex index(folder);
  const auto locked = index.take_lock(held);
  if (!locked) return locked.error();
  if (!*locked) return std::optional<UserIndex>();
  index.read();
  return std::optional(std::move(index));
}

void UserIndex::remove_left_lock(const std::string& folder) {
  if (is_our_stale_lock(folder + kLock)) ::unlink((folder + kLock).c_str());
}

UserIndex::UserIndex(UserIndex&&) noexcept = default;

UserIndex::~UserIndex() {
  if (!lock_.open()) return;
  ::unlink(file(kNew).c_str());
  ::unlink(file(kLock).c_str());
}

// False: another process holds the lock.
Result<bool> UserIndex::take_lock(LockStamp& held) {
  // The file gets the name index.lock only after the mark is written, so a lock of a killed process always
  // has the mark.
  ::unlink(file(kBefore).c_str());
  Descriptor lock(::open(file(kBefore).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!lock.open() || ::write(lock.number(), kMark.data(), kMark.size()) != ssize_t{kMark.size()} ||
      ::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
    return git::system_failure("lock its index");
  }
  if (!name_lock() && !wait_for_lock(held)) {
    ::unlink(file(kBefore).c_str());
    return false;
  }
  lock_ = std::move(lock);
  return true;
}

bool UserIndex::name_lock() {
  const auto name = [&] {
    return ::renameat2(AT_FDCWD, file(kBefore).c_str(), AT_FDCWD, file(kLock).c_str(), RENAME_NOREPLACE) == 0;
  };
  if (name()) return true;
  if (!is_our_stale_lock(file(kLock))) return false;
  ::unlink(file(kLock).c_str());
  return name();
}

// Most git commands hold the lock only briefly, so wait.
bool UserIndex::wait_for_lock(LockStamp& held) {
  const Descriptor changes(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!changes.open() ||
      ::inotify_add_watch(changes.number(), folder_.c_str(), IN_DELETE | IN_MOVED_FROM) < 0) {
    return false;
  }
  const SteadyTime start = steady_now();
  while (millis_since(start).count() < kLockWaitMs) {
    if (name_lock()) return true;
    const auto there = stamp_of(file(kLock));
    if (!there) continue;  // the lock was just removed
    if (*there == held) return false;
    pollfd ready{.fd = changes.number(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kLockWaitMs) != 1) {
      held = *there;
      return false;
    }
    std::array<char, 4096> dropped{};
    while (::read(changes.number(), dropped.data(), dropped.size()) > 0) {
    }
  }
  return false;
}

// Reads the entries from a copy, so that libgit2 writes to the copy.
void UserIndex::read() {
  ::unlink(file(kNew).c_str());
  ::unlink(file(kNewLock).c_str());
  struct stat before {};
  absent_ = ::stat(file(kIndex).c_str(), &before) != 0;
  std::error_code failed;
  if (!absent_ && !std::filesystem::copy_file(file(kIndex), file(kNew), failed)) return;
  if (!absent_) {
    mode_ = before.st_mode & 07777;
    written_at_ = TimePoint(std::chrono::seconds(before.st_mtim.tv_sec));
  }
  git::IndexHandle entries;
  if (git_index_open(entries.out(), file(kNew).c_str()) == 0) entries_ = std::move(entries);
}

// The new index is on disk, with the mode of the old one, before exchange() gives it the name `index`. So a
// crash leaves the user one index or the other.
bool UserIndex::prepare(const Unstaged& unstaged, const EntryAfter& after) {
  if (entries_ == nullptr) return false;
  if (written_at_) {
    keep_racy_entries(
        entries_, std::chrono::duration_cast<std::chrono::seconds>(written_at_->time_since_epoch()).count());
  }
  if (!follow(entries_, unstaged, after) || git_index_write(entries_) != 0) return false;
  const Descriptor written(::open(file(kNew).c_str(), O_RDONLY | O_CLOEXEC));
  if (!written.open()) return false;
  if (!absent_ && ::fchmod(written.number(), mode_) != 0) return false;
  prepared_ = ::fsync(written.number()) == 0;
  return prepared_;
}

void UserIndex::exchange() {
  if (!prepared_) return;
  const std::string from = file(absent_ && exchanged_ ? kIndex : kNew);
  const std::string to = file(absent_ && exchanged_ ? kNew : kIndex);
  const unsigned how = absent_ ? RENAME_NOREPLACE : RENAME_EXCHANGE;
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), how) == 0) exchanged_ = !exchanged_;
}

}  // namespace eventq::notebook
