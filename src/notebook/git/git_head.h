// git_head.h: reads git's HEAD and moves it to a new commit, together with the user's index.
#pragma once

#include <optional>
#include <string>

#include "notebook/git/git_index.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {

struct GitHead {
  std::string name;               // the reference that a commit moves: a branch, or HEAD if detached
  std::optional<git_oid> commit;  // none: the branch has no commit yet
};

Result<GitHead> read_head(git_repository* repo);
std::string hash_of(const GitHead& head);  // empty: no commit

// Moves the reference from `head` to `commit`, and exchanges `index`; HEAD also moves if the exchange fails.
// False: HEAD has moved, or another process holds a lock.
Result<bool> move_head(git_repository* repo, const GitHead& head, const git_oid& commit,
                       const git_signature* signature, const std::string& log, UserIndex& index);

// The lock file of HEAD or of its branch that exists; empty: none.
std::string lock_on(git_repository* repo, const GitHead& head);

// Removes the lock files that move_head() of a killed process left.
void remove_left_locks(git_repository* repo, const GitHead& head);

}  // namespace eventq::notebook
