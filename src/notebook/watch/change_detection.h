// change_detection.h: finds changes by other programs: compares the files with the rows of the NotebookState.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eventq/error.h"
#include "notebook/files/digests.h"
#include "notebook/files/folder.h"
#include "notebook/files/own_writes.h"
#include "notebook/git/git_ignores.h"
#include "notebook/operation.h"
#include "notebook/state/notebook_state.h"
#include "notebook/watch/path_debouncer.h"

namespace eventq::notebook {

// The notebook to examine.
struct DetectionInput {
  const Folder& folder;
  Digests& digests;
  NotebookState& state;
  const OwnWrites& own_writes;
  std::int64_t notebook;
  GitIgnores* ignores = nullptr;  // null: no folder is ignored
};

// Returns a sync for each touched path that differs from the NotebookState and is no own write: created,
// modified, deleted, or moved from TouchedPath::source with unchanged content. A path that is or was a folder
// stands for all files in it. A file in a folder that git ignores does not count, and is not read, unless git
// tracks it or it has a row. A large file that is still being hashed is left out. Deletions come first, so
// that a file may replace a folder and vice versa.
Result<std::vector<Operation>> find_changes(const DetectionInput& in,
                                            const std::vector<TouchedPath>& touched);

// The same for the whole notebook. Does not read files whose state equals their row, unless they changed so
// recently that a later write could have the same time.
Result<std::vector<Operation>> find_all_changes(const DetectionInput& in, TimePoint now);

}  // namespace eventq::notebook
