// migrate.h: bring a file to the newest schema, once, in one transaction per step.
#pragma once

#include "eventq/error.h"
#include "store/sqlite/connection.h"

namespace eventq::sqlite {

// Reads whose file it is, and writes nothing.
// Errors: corrupt for a file that is somebody else's.
Result<void> check_owner(SqliteConnection& connection);

// Reads whether a move into it was begun and not finished; see store/move/. Errors: conflict when so.
Result<void> check_not_moving(SqliteConnection& connection);

// Reads whether it is ours, whole, and has the newest schema, and writes nothing.
// Errors: corrupt, saying what it is instead; conflict as check_not_moving().
Result<void> check_current(SqliteConnection& connection);

// REQUIRES: check_owner() found nothing wrong.
// Errors: corrupt for a file that a newer eventq wrote.
Result<void> migrate(SqliteConnection& connection);

}  // namespace eventq::sqlite
