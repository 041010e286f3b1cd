// postgres_store.h: a Store in a PostgreSQL database, schema `eventq`. Many may be open on one database.
#pragma once

#include <memory>
#include <string>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "store/store.h"

namespace eventq::postgres {

// Which of several databases this one is: its events have ids with id % shard_count == shard_index.
struct ShardPosition {
  int shard_index = 0;
  int shard_count = 1;
  friend bool operator==(const ShardPosition&, const ShardPosition&) = default;
};

class PostgresStore : public Store {
 public:
  // Ends a transaction that hangs: it, and begin(), fail until `false`. From any thread.
  virtual void interrupt(bool interrupted) = 0;
};

// Connects when the first transaction begins, and again after a connection was lost. `clock` is for tests;
// the database's own when null. REQUIRES: the schema is there and current, and its place is checked; see
// migrate.h.
std::unique_ptr<PostgresStore> make_store(std::string url, ShardPosition position, const Clock* clock);

}  // namespace eventq::postgres
