// git_files.h: stores the folder's files as git blobs, as `git add` does: line ends and $Id$ are converted.
// No program is run, so a file with a filter (LFS, git-crypt) is not stored unless the filter is bypassed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "notebook/files/folder.h"
#include "notebook/git/git_repo.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {

// A commit that is being made.
struct StagingInput {
  git_repository* repo;
  git_config* config;
  git_tree* head;    // the tree of HEAD; null: no commit yet
  git_index* index;  // the user's index, which is locked; null: it cannot be read
  const Folder& folder;
  const KnownFiles& known;
  const LargeBlobs& blobs;
  const std::set<std::string>& bypassed;  // the names of filters whose files are stored as they are
  // The index was written just now, perhaps by a git that is about to move HEAD: a path that it has as the
  // file is, and HEAD has not, is left out.
  bool is_index_fresh;
};

struct ChangedPath {
  std::optional<git::Recorded> before;   // in HEAD
  std::optional<git_index_entry> after;  // without its path; empty: deleted
};

struct TakenPaths {
  std::map<std::string, ChangedPath> changed;
  std::vector<std::string>
      left_out;  // could not be read, differ from `known`, or may belong to a running git
  std::vector<std::string> filtered;  // have a filter, so they stay as HEAD has them
};

// Compares the paths with HEAD and stores the content of those that changed. A link or another thing that is
// no regular file keeps its entry, and so does a path in a submodule or in another repository.
Result<TakenPaths> take_paths(const StagingInput& in, const std::vector<std::string>& paths);

}  // namespace eventq::notebook
