// migrate.h: the schema version of PostgreSQL databases, and which shard of which set each database is.
//
// The databases of one queue are given as a list in shard order; a single database is a list of one. Each
// database stores its position and the id of its set, so that another list is refused.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eventq/error.h"
#include "store/postgres/postgres_store.h"

namespace eventq::postgres {

struct Migration {
  int version = 0;
  std::string name;  // of its file
  std::string sql;
};
const std::vector<Migration>& migrations();

struct DatabaseState {
  int version = 0;                        // 0: no schema
  std::optional<ShardPosition> position;  // null: no schema, or not stored yet
  std::string set;                        // id of the set; the same in all its shards
  bool whole = false;                     // in shard 0: all other shards have stored their positions
  bool moving = false;                    // a move into it was started and not finished; see tools/move/
  bool here = false;                      // both ends of the connection have the same address
};
Result<DatabaseState> schema_state(const std::string& url);

struct Migrated {
  std::string url;
  Migration migration;
};
// Brings the databases to the newest version, each under a lock, and stores their positions if they have
// none. Returns the migrations that were run.
// Errors: conflict if the databases are not one set in order, or a version is newer than this program. Then
// no existing database was changed.
Result<std::vector<Migrated>> migrate(std::span<const std::string> urls);

// What migrate() would run, as a script for psql; empty if nothing is missing. Errors: as migrate().
Result<std::string> migration_script(std::span<const std::string> urls);

// Checks that a server may start on these databases: newest version, one set, in order. Returns their states.
// Errors: unavailable; conflict, with a message that names the command to run.
Result<std::vector<DatabaseState>> check_schema(std::span<const std::string> urls);

}  // namespace eventq::postgres
