// git_open.h: opens the repository of a folder, or creates it.
#pragma once

#include <string>

#include "notebook/git/git_support.h"

namespace eventq::notebook {

// The repository whose work tree is the folder `path`; parent folders are not searched. With `may_init` a
// missing one is created, on branch main. Adds kOwnFolder to .git/info/exclude.
// Errors: unavailable with git's message; conflict for a bare repository, or one with another work tree.
Result<git::RepositoryHandle> open_repository(const std::string& path, bool may_init);

}  // namespace eventq::notebook
