// postgres_shard.h: a PostgreSQL database as a shard: commit threads on connections of their own, hints to
// and from other servers, and the removal of old events while no other server sees to it.
#pragma once

#include <memory>
#include <string>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/options.h"
#include "shards/shard.h"

namespace eventq {

// Checks that the database is the shard `place` of `of`, and learns what it holds. The clock must
// outlive it. Errors: unavailable; conflict when its schema or its place is another.
Result<std::unique_ptr<Shard>> open_postgres_shard(const std::string& url, int place, int of,
                                                   const Options& options, const Clock& clock);

}  // namespace eventq
