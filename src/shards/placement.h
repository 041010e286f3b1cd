// placement.h: which of several shards something belongs to. Pure.
//
// An event's id names its shard for ever: id % shards. A publication goes to one shard as a whole, chosen by
// what must stay exact: events that wait for each other, or replace each other, meet on one shard.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "command/command.h"
#include "eventq/error.h"
#include "eventq/event.h"
#include "model/shard_of.h"

namespace eventq {

// What decides where a publication goes, as a hash: its ordering keys, else its correlation id, its supersede
// keys, the first of its event ids, its idempotency key. Nothing: it may go anywhere.
// Errors: invalid_argument when its keys name several shards.
[[nodiscard]] Result<std::optional<std::uint64_t>> placement_of(const Publication& publication, int shards);

// Whether the queue will make a correlation id for it.
[[nodiscard]] bool makes_correlation(const Publication& publication);

// A correlation id that belongs to `shard`, so that events published with it later follow; from `next`, which
// gives a new id each time.
[[nodiscard]] std::string correlation_id_for(int shard, int shards, const std::function<std::string()>& next);

}  // namespace eventq
