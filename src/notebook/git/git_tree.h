// git_tree.h: reads and writes single paths of git trees. Only the trees of the folders above a path are read
// or written, so the cost does not depend on the number of files in the repository.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "notebook/git/git_support.h"

namespace eventq::notebook {

// The new entry of each path; empty: the path is removed.
using TreeChanges = std::map<std::string, std::optional<git::Recorded>>;

// The entry of a file, link or submodule. `tree` may be null, which is an empty tree. A folder is no entry.
Result<std::optional<git::Recorded>> entry_at(git_tree* tree, const std::string& path);

// Writes a tree with these changes to `base`, which may be null. REQUIRES: `base` has the removed paths.
Result<git_oid> write_tree(git_repository* repo, git_tree* base, const TreeChanges& changes);

}  // namespace eventq::notebook
