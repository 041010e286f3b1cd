// open.h: from the URL of a store, or of several, to a running engine.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "eventq/error.h"
#include "eventq/options.h"

namespace eventq {

// Opens `sqlite:PATH`, `memory:` or `postgres://…`. Errors: as Queue::open().
Result<std::unique_ptr<Engine>> open_engine(std::string_view url, const Options& options);

// Opens one store, or several `postgres:` URLs as the shards of one queue.
// REQUIRES: every server that uses the shards names all of them, in the same order.
Result<std::unique_ptr<Engine>> open_engine(std::span<const std::string> urls, const Options& options);

}  // namespace eventq
