// recovered_core.h: makes the Core of a store, with everything that the store holds loaded.
#pragma once

#include <memory>

#include "core/core.h"
#include "eventq/options.h"

namespace eventq {

// The part of the user's options that a Core needs. Says nothing of shards: the caller adds those.
CoreOptions core_options(const Options& options);

// Makes a Core, runs its recover(), and logs how many live events it found.
// Errors: of Core::recover().
Result<std::unique_ptr<Core>> recovered_core(Store& store, CoreOptions options, const Logger& logger);

}  // namespace eventq
