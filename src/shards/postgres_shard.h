// postgres_shard.h: a PostgreSQL database as a shard: commit threads on connections of their own, hints to
// and from other servers, and retention while no other server holds the lock for it.
#pragma once

#include <memory>
#include <string>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/options.h"
#include "shards/shard.h"

namespace eventq {

// Checks that the database is number `shard` of `shards`, and recovers its state. The clock must outlive the
// shard. Errors: unavailable; conflict when its schema or its number is another.
Result<std::unique_ptr<Shard>> open_postgres_shard(const std::string& url, int shard, int shards,
                                                   const Options& options, const Clock& clock);

}  // namespace eventq
