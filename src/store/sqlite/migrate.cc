// migrate.cc: see migrate.h.
//
// To change the schema, add a numbered file. Never change an existing one: stores that already ran it would
// differ from new stores.
#include "store/sqlite/migrate.h"

#include <cstddef>
#include <iterator>
#include <string>

#include "generated/sqlite_migrations.h"
#include "generated/sqlite_sql.h"

namespace eventq::sqlite {
namespace {

// "EvQ " in ASCII, as in mark_application.sql.
constexpr std::int64_t kApplication = 0x45765120;

Result<void> apply(SqliteConnection& connection, std::string_view step, std::size_t version) {
  // The version is set in the same transaction, so a crash leaves the step either done or not begun.
  std::string script(sql::begin);
  script += step;
  script += sql::set_version;
  script += std::to_string(version) + ";\n";
  script += sql::commit;
  auto done = connection.run(script);
  if (done) return {};
  Error error = done.error();
  // Ignore an error of the rollback: the first error is the cause.
  static_cast<void>(connection.run(sql::rollback));
  return error;
}

}  // namespace

Result<void> check_owner(SqliteConnection& connection) {
  const auto application = read_number(connection, sql::read_application);
  if (!application) return application.error();
  if (*application == kApplication) return {};
  const auto tables = read_number(connection, sql::count_tables);
  if (!tables) return tables.error();
  if (*application != 0 || *tables != 0) {
    return Error{ErrorCode::corrupt,
                 "The file is a SQLite database, but not one of eventq. Name another file.", "store"};
  }
  return {};
}

Result<void> check_not_moving(SqliteConnection& connection) {
  const auto moving = read_number(connection, sql::find_move);
  if (!moving) return moving.error();
  if (*moving == 0) return {};
  return Error{ErrorCode::conflict,
               "The file holds part of a store that is being moved. Run the same `eventq move` again.",
               "store"};
}

Result<void> check_current(SqliteConnection& connection) {
  const auto application = read_number(connection, sql::read_application);
  if (!application) return application.error();
  if (*application != kApplication) {
    return Error{ErrorCode::corrupt, "The file is a SQLite database, but not one of eventq.", "store"};
  }
  const auto version = read_number(connection, sql::read_version);
  if (!version) return version.error();
  const auto newest = static_cast<std::int64_t>(std::size(migrations::kAll));
  if (*version == newest) return check_not_moving(connection);
  const std::string advice = *version < newest ? "Start `eventq serve` on it once to migrate it."
                                               : "Use the newer eventq that wrote it.";
  return Error{ErrorCode::corrupt,
               "The store has schema " + std::to_string(*version) + ", this eventq needs " +
                   std::to_string(newest) + ". " + advice,
               "store"};
}

Result<void> migrate(SqliteConnection& connection) {
  const auto version = read_number(connection, sql::read_version);
  if (!version) return version.error();
  const auto newest = static_cast<std::int64_t>(std::size(migrations::kAll));
  if (*version > newest) {
    return Error{ErrorCode::corrupt,
                 "The store has schema " + std::to_string(*version) + ", this eventq knows up to " +
                     std::to_string(newest) + ". Use the newer eventq that wrote it.",
                 "store"};
  }
  // The mark is set before the schema, so check_owner() accepts a file that a crash left between the two.
  if (*version == 0) {
    if (auto marked = connection.run(sql::mark_application); !marked) return marked;
  }
  for (auto step = static_cast<std::size_t>(*version); step < std::size(migrations::kAll); ++step) {
    if (auto done = apply(connection, migrations::kAll[step].second, step + 1); !done) return done;
  }
  return {};
}

}  // namespace eventq::sqlite
