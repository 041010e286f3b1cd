// shard_of.h: which of several shards an id or a hash belongs to. Pure.
//
// The rule never changes, because the ids of stored events name their shards.
#pragma once

#include <cstdint>

#include "eventq/event.h"

namespace eventq {

// REQUIRES: shards > 0.
[[nodiscard]] constexpr int shard_of(std::uint64_t hash, int shards) {
  return static_cast<int>(hash % static_cast<std::uint64_t>(shards));
}

// REQUIRES: shards > 0.
[[nodiscard]] constexpr int shard_of(EventId id, int shards) {
  return shard_of(static_cast<std::uint64_t>(id), shards);
}

}  // namespace eventq
