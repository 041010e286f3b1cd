// opening.h: what it takes to open any store.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/core.h"
#include "eventq/options.h"

namespace eventq {

CoreOptions core_options(const Options& options);

// A Core that knows what the store holds.
Result<std::unique_ptr<Core>> recovered_core(Store& store, CoreOptions options, const Logger& logger);

// Makes the archive's folder. Better known at the start than when the first event leaves.
std::optional<Error> check_folder(const std::string& folder);

}  // namespace eventq
