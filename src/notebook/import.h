// import.h: records the files that a folder has when it becomes a notebook.
//
// The files are recorded in few large transactions and without events. A file that HEAD has with the same
// content and mode needs no commit; git computes nothing for it. The others become pending together, so one
// commit contains them.
#pragma once

#include <cstdint>
#include <string>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "notebook/files/digests.h"
#include "notebook/files/folder.h"
#include "notebook/git/git_ignores.h"
#include "notebook/state/notebook_state.h"

namespace eventq::notebook {

struct ImportInput {
  const Folder& folder;
  Digests& digests;  // Digests::stopping() ends the import
  GitIgnores& ignores;
  NotebookState& state;
  const NotebookRow& row;
  TimePoint now;
};

// Records all files that are not in a folder that git ignores, and then that the notebook is imported. After
// an interruption a second call continues. Large files are left to the Digests, which report them later.
// Errors: unavailable, also at a stop. REQUIRES: no worker applies events to the notebook meanwhile.
Result<void> import_files(const ImportInput& in);

}  // namespace eventq::notebook
