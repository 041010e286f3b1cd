// git_pack.h: packs loose objects, as `git gc --auto` does, which only runs with the commands of git.
#pragma once

#include <atomic>
#include <string>

#include "eventq/error.h"

namespace eventq::notebook {

// Whether the repository has more loose objects than gc.auto allows: about 6,700 unless set, never if 0.
// Estimates their number by one folder, as git does.
bool has_many_loose_objects(const std::string& path);

// Writes all loose objects into one pack, then removes them. `stop` ends it; then all objects stay loose.
// Opens the repository by itself, so it may run beside a GitRepo and beside git. Errors: unavailable,
// no_space.
Result<void> pack_loose_objects(const std::string& path, const std::atomic<bool>& stop);

}  // namespace eventq::notebook
