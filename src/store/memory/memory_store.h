// memory_store.h: Store in memory, as plainly as possible. Nothing survives the process.
//
// It is the model the real stores are compared with: it searches everything every time,
// and has no index that could be wrong. Use it for tests and small experiments.
#pragma once

#include <memory>

#include "eventq/clock.h"
#include "store/store.h"

namespace eventq::memory {

// As one of several stores: its events have ids with id % shard_count == shard_index.
std::unique_ptr<Store> open_store(const Clock& clock, int shard_index = 0, int shard_count = 1);

}  // namespace eventq::memory
