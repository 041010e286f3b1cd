// git_index.h: the user's index (.git/index), in step with commits that are not made from it.
//
// A path that the user has not staged follows the commit. It is locked as git does it, by index.lock, from
// before the commit's reference moves until after it: a `git commit` meanwhile refuses, instead of undoing
// the commit with what it read from the index before.
//
// One that stays locked by somebody else, or that libgit2 cannot read, is left as it is.
//
// What this cannot help: git reads the index before it locks it. A `git commit` that began just before ours
// is refused, because HEAD has moved, but has put back the index it read; its user sees our change undone
// among the staged ones. If that is committed, GitRepo::moved() tells.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {

// Paths, and what the index says of them if the user has staged nothing: one of several, where it may not
// have followed for a while.
using Unstaged = std::multimap<std::string, std::optional<git::Recorded>>;

// One file, as it was when somebody wrote it.
struct LockStamp {
  std::uint64_t inode = 0;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  friend bool operator==(const LockStamp&, const LockStamp&) = default;
};

class UserIndex {
 public:
  // Locks it and writes beside it what it is to become: the entries of `wanted` for the paths in `unstaged`.
  // Nothing when it must be left as it is. `folder` is the repository's own, with "/" at its end. `stale` is
  // somebody else's lock that was waited for in vain, perhaps left by a git that died: not waited for again.
  static std::optional<UserIndex> prepare(const std::string& folder, git_index* wanted,
                                          const Unstaged& unstaged, LockStamp& stale);
  UserIndex(UserIndex&&) noexcept;
  UserIndex& operator=(UserIndex&&) = delete;
  ~UserIndex();  // unlocks

  // A lock that an eventq left when it died goes.
  static void remove_left_lock(const std::string& folder);

  // Puts what was prepared in its place; called again, takes it back. False: neither.
  bool exchange();

 private:
  explicit UserIndex(std::string folder) : folder_(std::move(folder)) {}
  bool lock(LockStamp& stale);
  bool name_lock();
  bool wait_for_lock(LockStamp& stale);
  bool write(git_index* wanted, const Unstaged& unstaged);
  [[nodiscard]] std::string file(const char* name) const { return folder_ + name; }

  std::string folder_;
  Descriptor lock_;      // open while index.lock is ours
  bool absent_ = false;  // there was none
  bool exchanged_ = false;
};

}  // namespace eventq::notebook
