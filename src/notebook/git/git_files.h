// git_files.h: stores the folder's files as git blobs, byte for byte: no clean filter or line ending
// conversion is applied.
#pragma once

#include <string>
#include <vector>

#include "notebook/files/folder.h"
#include "notebook/git/git_index.h"
#include "notebook/git/git_repo.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {

// A commit that is being made.
struct StagingInput {
  git_repository* repo;
  git_config* config;
  git_index* files;  // the tree of the commit
  const Folder& folder;
  const KnownFiles& known;
};

// Updates the entries of `files` for these paths to what the folder has; returns the former entries of the
// paths that changed. A link or another thing that is no regular file keeps its entry. `left_out` gets the
// paths that could not be read or differ from `known`.
Result<Unstaged> take_paths(const StagingInput& in, const std::vector<std::string>& paths,
                            std::vector<std::string>& left_out);

}  // namespace eventq::notebook
