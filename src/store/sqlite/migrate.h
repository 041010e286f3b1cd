// migrate.h: brings a file to the newest schema, in one transaction per step.
#pragma once

#include "eventq/error.h"
#include "store/sqlite/connection.h"

namespace eventq::sqlite {

// Checks that the file is empty or a store of eventq. Writes nothing.
// Errors: corrupt for a database of another program.
Result<void> check_owner(SqliteConnection& connection);

// Checks that no unfinished move into this file exists; see tools/move/. Errors: conflict when one does.
Result<void> check_not_moving(SqliteConnection& connection);

// Checks that the file is a complete store with the newest schema. Writes nothing.
// Errors: corrupt, with the schema found; conflict as check_not_moving().
Result<void> check_current(SqliteConnection& connection);

// REQUIRES: check_owner() returned without an error.
// Errors: corrupt for a file that a newer eventq wrote.
Result<void> migrate(SqliteConnection& connection);

}  // namespace eventq::sqlite
