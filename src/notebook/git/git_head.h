// git_head.h: where HEAD is, and how it moves: from where it was only, and with the user's index in the same
// moment.
#pragma once

#include <optional>
#include <string>

#include "notebook/git/git_index.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {

struct GitHead {
  std::string name;               // of the reference that a commit moves: a branch, or HEAD itself
  std::optional<git_oid> commit;  // none: nothing was committed there yet
};

Result<GitHead> read_head(git_repository* repo);
std::string hash_of(const GitHead& head);  // empty: none

// Moves the reference from `head` to `commit`, and the index, if there is one. False: it is not at `head` any
// more, or somebody else has locked it.
Result<bool> move_head(git_repository* repo, const GitHead& head, const git_oid& commit,
                       const git_signature* signature, const std::string& log,
                       std::optional<UserIndex>& index);

// Those that move_head() had when its process was killed.
void remove_left_locks(git_repository* repo, const GitHead& head);

}  // namespace eventq::notebook
