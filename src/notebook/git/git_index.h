// git_index.h: updates the user's index (.git/index) for commits that were not made from it.
//
// Entries of paths that the user has not staged follow the commit. The index is locked by index.lock, as git
// does, from before the reference moves until after it. So a concurrent `git commit` fails instead of undoing
// our commit with the old index.
//
// An index that another process keeps locked, or that libgit2 cannot read, is not changed.
//
// Remaining race: git reads the index before it locks it. A `git commit` that began just before ours fails,
// because HEAD has moved, but writes back the index it had read. Then `git status` shows our change as undone
// and staged. If the user commits that, GitRepo::moved() reports the paths.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {

// Paths with the entry that the index has if the user staged nothing. Several entries for one path where the
// index may have missed commits.
using Unstaged = std::multimap<std::string, std::optional<git::Recorded>>;

// Identifies one lock file.
struct LockStamp {
  std::uint64_t inode = 0;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  friend bool operator==(const LockStamp&, const LockStamp&) = default;
};

class UserIndex {
 public:
  // Locks the index and writes the new one beside it, with the entries of `wanted` for the paths in
  // `unstaged`. Empty when the index must not be changed. `folder` is the .git folder, with "/" at its end.
  // `stale` is a lock for which an earlier call waited in vain, perhaps left by a git that died; this call
  // does not wait for it again.
  static std::optional<UserIndex> prepare(const std::string& folder, git_index* wanted,
                                          const Unstaged& unstaged, LockStamp& stale);
  UserIndex(UserIndex&&) noexcept;
  UserIndex& operator=(UserIndex&&) = delete;
  ~UserIndex();  // removes the lock

  // Removes an index.lock that a killed eventq left.
  static void remove_left_lock(const std::string& folder);

  // Exchanges the index with the prepared one; a second call undoes that. False: nothing was changed.
  bool exchange();

 private:
  explicit UserIndex(std::string folder) : folder_(std::move(folder)) {}
  bool lock(LockStamp& stale);
  bool name_lock();
  bool wait_for_lock(LockStamp& stale);
  bool write(git_index* wanted, const Unstaged& unstaged);
  [[nodiscard]] std::string file(const char* name) const { return folder_ + name; }

  std::string folder_;
  Descriptor lock_;      // open while this object holds index.lock
  bool absent_ = false;  // there was no index
  bool exchanged_ = false;
};

}  // namespace eventq::notebook
