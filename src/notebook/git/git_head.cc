// git_head.cc: see git_head.h.
#include "notebook/git/git_head.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "base/descriptor.h"

namespace eventq::notebook {
namespace {

Result<bool> is_still(git_repository* repo, const GitHead& head) {
  const auto now = read_head(repo);
  if (!now) return now.error();
  if (now->name != head.name || now->commit.has_value() != head.commit.has_value()) return false;
  return !head.commit || git_oid_equal(&*now->commit, &*head.commit) != 0;
}

// The lock files of HEAD and of its branch; the second is empty for a detached HEAD.
std::array<std::string, 2> locks_of(git_repository* repo, const GitHead& head) {
  return {std::string(git_repository_path(repo)) + "HEAD.lock",
          head.name == "HEAD" ? "" : git_repository_commondir(repo) + head.name + ".lock"};
}

// Records the lock files of HEAD and its branch that this process creates, by inode and birth time, in
// .git/eventq.locks. A killed process leaves its lock files, and libgit2 does not mark them; the next process
// removes those that are recorded. A process can die after creating a lock and before recording it. So a "+"
// line is written before each lock: a lock born within one second after the last "+" line is ours too.
class HeadLocks {
 public:
  HeadLocks(git_repository* repo, const GitHead& head)
      : name_(std::string(git_repository_path(repo)) + "eventq.locks"),
        locks_(locks_of(repo, head)),
        file_(::open(name_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
    // A living process holds this lock.
    if (file_.open() && ::flock(file_.number(), LOCK_EX | LOCK_NB) != 0) file_.close();
    if (file_.open()) remove_left();
  }
  HeadLocks(const HeadLocks&) = delete;
  HeadLocks& operator=(const HeadLocks&) = delete;
  ~HeadLocks() {
    if (file_.open()) ::unlink(name_.c_str());
  }

  // Call expect_next() before and note_next() after each lock: first HEAD, then its branch.
  void expect_next() { note(kExpected); }
  void note_next() { note(identity(locks_.at(noted_++))); }

 private:
  static constexpr const char* kExpected = "+\n";

  void note(const std::string& line) {
    if (file_.open()) (void)!::write(file_.number(), line.data(), line.size());
  }

  // The line that identifies a lock file; empty: absent, or the file system has no birth times.
  static std::string identity(const std::string& path) {
    struct statx found {};
    const unsigned what = STATX_INO | STATX_BTIME;
    if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, what, &found) != 0) return "";
    if ((found.stx_mask & STATX_BTIME) == 0) return "";  // an inode number alone may be reused
    return std::to_string(found.stx_ino) + " " + std::to_string(found.stx_btime.tv_sec) + " " +
           std::to_string(found.stx_btime.tv_nsec) + "\n";
  }
  void remove_left() const {
    std::array<char, 512> noted{};
    const ssize_t size = ::pread(file_.number(), noted.data(), noted.size(), 0);
    if (size <= 0) return;
    const std::string lines = "\n" + std::string(noted.data(), static_cast<std::size_t>(size));
    for (const std::string& lock : locks_) {
      const std::string line = identity(lock);
      if (!line.empty() && lines.find("\n" + line) != lines.npos) ::unlink(lock.c_str());
    }
    const auto expected = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '+'));
    if (lines.ends_with(kExpected) && expected <= locks_.size()) remove_expected(locks_[expected - 1]);
    (void)!::ftruncate(file_.number(), 0);
  }
  void remove_expected(const std::string& lock) const {
    struct statx line {};
    struct statx born {};
    if (::statx(file_.number(), "", AT_EMPTY_PATH, STATX_MTIME, &line) != 0) return;
    if (::statx(AT_FDCWD, lock.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &born) != 0) return;
    if ((born.stx_mask & STATX_BTIME) == 0) return;
    const auto time = [](const statx_timestamp& at) {
      return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
    };
    const auto behind = time(born.stx_btime) - time(line.stx_mtime);
    if (behind >= behind.zero() && behind <= std::chrono::seconds(1)) ::unlink(lock.c_str());
  }

  const std::string name_;
  const std::array<std::string, 2> locks_;
  Descriptor file_;
  std::size_t noted_ = 0;
};

// Locks HEAD and its branch. HEAD too, so that no other branch is checked out meanwhile. False: another
// process holds one of the locks.
Result<bool> lock_head(git_transaction* transaction, const GitHead& head, HeadLocks& ours) {
  std::vector<std::string> names = {"HEAD"};
  if (head.name != "HEAD") names.push_back(head.name);
  for (const std::string& name : names) {
    ours.expect_next();
    const int locked = git_transaction_lock_ref(transaction, name.c_str());
    if (locked == GIT_ELOCKED) return false;
    if (locked != 0) return git::failure("lock " + name);
    ours.note_next();
  }
  return true;
}

}  // namespace

Result<GitHead> read_head(git_repository* repo) {
  GitHead head{.name = "HEAD"};
  for (int depth = 0; depth < 5; ++depth) {
    git::ReferenceHandle reference;
    const int found = git_reference_lookup(reference.out(), repo, head.name.c_str());
    if (found == GIT_ENOTFOUND && depth > 0) return head;
    if (found != 0) return git::failure("read " + head.name);
    if (git_reference_type(reference) == GIT_REFERENCE_DIRECT) {
      head.commit = *git_reference_target(reference);
      return head;
    }
    head.name = git_reference_symbolic_target(reference);
  }
  return Error{ErrorCode::unavailable, "Git's HEAD leads through too many references."};
}

std::string hash_of(const GitHead& head) { return head.commit ? git_oid_tostr_s(&*head.commit) : ""; }

Result<bool> move_head(git_repository* repo, const GitHead& head, const git_oid& commit,
                       const git_signature* signature, const std::string& log, UserIndex& index) {
  HeadLocks ours(repo, head);
  git::TransactionHandle transaction;
  if (git_transaction_new(transaction.out(), repo) != 0) return git::failure("begin a transaction");
  auto locked = lock_head(transaction, head, ours);
  if (!locked || !*locked) return locked;
  auto still = is_still(repo, head);
  if (!still || !*still) return still;
  if (git_transaction_set_target(transaction, head.name.c_str(), &commit, signature, log.c_str()) != 0) {
    return git::failure("move " + head.name);
  }
  // Exchange the index first: a git process that reads the new HEAD must not read the old index. If that
  // fails, HEAD moves without it, and index.is_exchanged() shows the caller that the user's index lacks this
  // commit.
  index.exchange();
  if (git_transaction_commit(transaction) == 0) return true;
  Error error = git::failure("move " + head.name);
  if (index.is_exchanged()) index.exchange();  // undoes the exchange, because HEAD has not moved
  return error;
}

std::string lock_on(git_repository* repo, const GitHead& head) {
  for (const std::string& lock : locks_of(repo, head)) {
    if (!lock.empty() && ::access(lock.c_str(), F_OK) == 0) return lock;
  }
  return "";
}

void remove_left_locks(git_repository* repo, const GitHead& head) { const HeadLocks left(repo, head); }

}  // namespace eventq::notebook
