// memory_store.h: Store in memory, in the simplest code. Its data ends with the process.
//
// Tests compare the other stores with it. Every query scans all events, so there is no index that could be
// wrong. Use it for tests and small experiments.
#pragma once

#include <memory>

#include "eventq/clock.h"
#include "store/store.h"

namespace eventq::memory {

// With shard_count > 1 it acts as one shard: its events have ids with id % shard_count == shard_index.
std::unique_ptr<Store> open_store(const Clock& clock, int shard_index = 0, int shard_count = 1);

}  // namespace eventq::memory
