// placement.h: which of several shards an event belongs to. Pure.
//
// An event's id names its shard for ever: id % shards. A publication goes to one shard as a whole. Its keys
// choose the shard, so that events that wait for each other, or supersede each other, are in one database.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "command/command.h"
#include "eventq/error.h"

namespace eventq {

// The hash that chooses the shard of a publication: of its ordering keys, else of its correlation id, its
// supersede keys, the first of its event ids, its idempotency key. Empty: any shard may take it.
// Errors: invalid_argument when its keys belong to several shards.
[[nodiscard]] Result<std::optional<std::uint64_t>> placement_of(const Publication& publication, int shards);

// Whether the queue will make a correlation id for the publication.
[[nodiscard]] bool makes_correlation(const Publication& publication);

// A correlation id that belongs to `shard`, so that events published with it later go to the same shard.
// `next` must return a new id each time.
[[nodiscard]] std::string correlation_id_for(int shard, int shards, const std::function<std::string()>& next);

}  // namespace eventq
