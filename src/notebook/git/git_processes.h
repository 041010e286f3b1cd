// git_processes.h: which other processes use a repository, as /proc shows it.
//
// Limits: the current folder and the open files of another user's process are visible to root only, and
// those of a process in another container or on another machine are not visible at all.
#pragma once

#include <optional>
#include <string>

namespace eventq::notebook {

struct RepositoryFolders {
  std::string work_tree;
  std::string git;  // the .git folder, which is elsewhere for a linked worktree
};

// A git command of another process that changes files and HEAD, such as "git checkout (process 12)"; empty:
// none is seen.
std::optional<std::string> running_git(const RepositoryFolders& folders);

// Whether another process has its current folder or an open file in the repository.
bool is_in_use(const RepositoryFolders& folders);

}  // namespace eventq::notebook
