// git_blobs.h: stores the content of large files ahead of the commit, so that a commit does not wait for it.
#pragma once

#include <atomic>
#include <string>

#include "eventq/error.h"
#include "notebook/files/folder.h"

namespace eventq::notebook {

// Stores the file as blob `id` unless the repository has that blob, ignores the file, or stores its content
// in another form: a file with a git filter must never be stored as it is. Opens the repository by itself, so
// it may run beside a GitRepo. `stop` ends it without a blob. Errors: unavailable, no_space.
Result<void> store_blob(const std::string& repository, const Folder& folder, const std::string& path,
                        const std::string& id, const std::atomic<bool>& stop);

}  // namespace eventq::notebook
