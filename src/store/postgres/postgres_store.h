// postgres_store.h: a Store in a PostgreSQL database, schema `eventq`. Several stores may be open on one
// database.
#pragma once

#include <memory>
#include <string>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "store/store.h"

namespace eventq::postgres {

// Which shard of how many a database is: its events have ids with id % shard_count == shard_index.
struct ShardPosition {
  int shard_index = 0;
  int shard_count = 1;
  friend bool operator==(const ShardPosition&, const ShardPosition&) = default;
};

class PostgresStore : public Store {
 public:
  // interrupt(true) makes a running transaction and every begin() fail until interrupt(false). Threads: any.
  virtual void interrupt(bool interrupted) = 0;
};

// Connects when the first transaction begins, and again after the connection was lost. `clock` is for tests;
// null: the database's clock. REQUIRES: the schema is current and the position was checked; see migrate.h.
std::unique_ptr<PostgresStore> make_store(std::string url, ShardPosition position, const Clock* clock);

}  // namespace eventq::postgres
