// git_index.h: locks the user's index (.git/index) during a commit, and updates it.
//
// A UserIndex holds index.lock, as git does, from before the files are read until HEAD has moved. `git
// checkout`, `git pull` and similar hold the same lock while they change files, so neither can run during the
// other. Entries of paths that the user has not staged follow the commit.
//
// An index that libgit2 cannot read is not changed.
//
// Remaining race: git reads the index before it locks it. A `git commit` that began just before ours fails,
// because HEAD has moved, but writes back the index it had read. Then `git status` shows our change as undone
// and staged. If the user commits that, GitRepo::moved() reports the paths.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "eventq/clock.h"
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

// The entry that a path has after the commit; empty: none.
using EntryAfter = std::function<std::optional<git_index_entry>(const std::string& path)>;

class UserIndex {
 public:
  // Locks the index. Waits shortly for another process's lock; empty: that process keeps it. `folder` is the
  // .git folder, with "/" at its end. `held` is a lock for which an earlier call waited in vain; this call
  // does not wait for it again.
  static Result<std::optional<UserIndex>> lock(const std::string& folder, LockStamp& held);
  UserIndex(UserIndex&&) noexcept;
  UserIndex& operator=(UserIndex&&) = delete;
  ~UserIndex();  // removes the lock

  // Removes an index.lock that a killed eventq left.
  static void remove_left_lock(const std::string& folder);

  // The entries; null: the index cannot be read.
  [[nodiscard]] git_index* entries() const { return entries_; }
  [[nodiscard]] std::optional<TimePoint> written_at() const { return written_at_; }

  // Writes the new index beside the old one, with the entries `after` the commit for the paths in `unstaged`.
  // False: it cannot be written, and exchange() does nothing.
  bool prepare(const Unstaged& unstaged, const EntryAfter& after);
  // Exchanges the index with the prepared one; a second call undoes that.
  void exchange();
  [[nodiscard]] bool is_exchanged() const { return exchanged_; }

 private:
  explicit UserIndex(std::string folder) : folder_(std::move(folder)) {}
  Result<bool> take_lock(LockStamp& held);
  bool name_lock();
  bool wait_for_lock(LockStamp& held);
  void read();
  [[nodiscard]] std::string file(const char* name) const { return folder_ + name; }

  std::string folder_;
  Descriptor lock_;           // open while this object holds index.lock
  git::IndexHandle entries_;  // of the copy kNew
  std::optional<TimePoint> written_at_;
  mode_t mode_ = 0;
  bool absent_ = false;  // there was no index
  bool prepared_ = false;
  bool exchanged_ = false;
};

}  // namespace eventq::notebook
