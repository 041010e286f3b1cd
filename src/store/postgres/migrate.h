// migrate.h: the schema's version in PostgreSQL databases, and which shards of what they are.
//
// Databases that make one queue are given as a list, in the order of their places; one database is a list of
// one. Each stores its place and the id of their set, so that no other list is taken for it.
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
  std::string name;  // as the file is called
  std::string sql;
};
const std::vector<Migration>& migrations();

struct DatabaseState {
  int version = 0;                        // 0: no schema
  std::optional<ShardPosition> position;  // nothing: no schema, or its place was not written yet
  std::string set;                        // the same in all shards that belong together
  bool whole = false;                     // of shard 0: the others know their places, too
  bool moving = false;                    // a move into it was begun and not finished; see store/move/
  bool here = false;                      // both ends of the connection have the same address
};
Result<DatabaseState> schema_state(const std::string& url);

struct Migrated {
  std::string url;
  Migration migration;
};
// Brings the databases to the newest version, each migration once, under a lock, and writes their places if
// they have none. Returns what was run. Errors: conflict, before any old database is changed, when they are
// not one set in its order, or a version is newer than this program.
Result<std::vector<Migrated>> migrate(std::span<const std::string> urls);

// What migrate() would run, as a script for psql; empty when there is nothing to do. Errors: as migrate().
Result<std::string> migration_script(std::span<const std::string> urls);

// Whether a server may start on them: newest version, one set, in its order. Errors: unavailable, or a
// conflict that says which command mends it. Returns what each of them is.
Result<std::vector<DatabaseState>> check_schema(std::span<const std::string> urls);

}  // namespace eventq::postgres
