// change_detection.h: what others did to the files, found by comparing them with what is known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eventq/error.h"
#include "notebook/files/folder.h"
#include "notebook/files/own_writes.h"
#include "notebook/operation.h"
#include "notebook/state/notebook_state.h"
#include "notebook/watch/folder_watcher.h"

namespace eventq::notebook {

// A sync for each of these paths that is not as NotebookState and OwnWrites say: created, modified, deleted,
// or moved from TouchedPath::source with the content it had there. A path that is, or in NotebookState was, a
// folder stands for all in it. Deletions come first, so that a file can take the place of a folder and the
// other way round.
Result<std::vector<Operation>> find_changes(const Folder& folder, NotebookState& state,
                                            const OwnWrites& own_writes, std::int64_t notebook,
                                            const std::vector<TouchedPath>& touched);

// The same for the whole notebook. Files whose inode, size and time are as NotebookState has them are not
// read, unless that time is so near to now that a later change could have the same.
Result<std::vector<Operation>> find_all_changes(const Folder& folder, NotebookState& state,
                                                const OwnWrites& own_writes, std::int64_t notebook,
                                                TimePoint now);

}  // namespace eventq::notebook
