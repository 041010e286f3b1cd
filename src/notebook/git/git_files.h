// git_files.h: the folder's files as a commit records them: as they are, through no filter.
#pragma once

#include <string>
#include <vector>

#include "notebook/files/folder.h"
#include "notebook/git/git_index.h"
#include "notebook/git/git_repo.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {

// Makes `files` what is in the folder at these paths; what it said before of those that differ. A link or
// another thing that is no note's file stays as it is recorded. `left_out`: could not be read, or are not as
// `known`.
Result<Unstaged> take_paths(git_repository* repo, git_config* config, git_index* files, const Folder& folder,
                            const std::vector<std::string>& paths, const KnownFiles& known,
                            std::vector<std::string>& left_out);

}  // namespace eventq::notebook
