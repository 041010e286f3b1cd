// writer.cc: see writer.h.
#include "store/sqlite/writer.h"

#include <utility>

#include "store/sqlite/migrate.h"

namespace eventq::sqlite {
namespace {

// Sets the durability settings and reads them back, because some builds and file systems ignore them.
Result<void> configure(SqliteConnection& connection) {
  if (auto done = connection.run(sql::open_writer); !done) return done;
  const auto journal = read_text(connection, sql::read_journal_mode);
  if (!journal) return journal.error();
  const auto synchronous = read_text(connection, sql::read_synchronous);
  if (!synchronous) return synchronous.error();
  if (*journal != "wal" || *synchronous != "2") {
    return Error{ErrorCode::unavailable,
                 "SQLite cannot promise durability here: it answers journal_mode " + *journal +
                     " (wal is needed) and synchronous " + *synchronous +
                     " (2 is needed). Put the file on a local disk.",
                 "store"};
  }
  return {};
}

// Reads what the writer caches of the file.
Result<void> recall(SqliteWriter& writer) {
  auto read_last_id = Statement::prepare(writer.connection, sql::read_last_id);
  if (!read_last_id) return read_last_id.error();
  for (const auto& [name, last] :
       {std::pair("event", &writer.last_event_id), std::pair("log", &writer.last_log_id)}) {
    const auto id = one_row(read_last_id->with(name), [](const Statement& row) { return row.integer(0); });
    if (!id) return id.error();
    *last = id->value_or(0);
  }
  auto queues = all_rows(writer.connection, sql::read_any_tag_queues,
                         [](const Statement& row) { return std::string(row.text(0)); });
  if (!queues) return queues.error();
  writer.any_tag_queues.insert(queues->begin(), queues->end());
  return {};
}

}  // namespace

Result<SqliteConnection> open_for_writing(const std::string& path) {
  auto connection = SqliteConnection::open(path, SqliteConnection::OpenMode::write);
  if (!connection) return connection;
  // The owner is checked first, because configure() and migrate() write to the file.
  for (const auto step : {check_owner, configure, migrate}) {
    if (auto done = step(*connection); !done) return done.error();
  }
  return connection;
}

Result<std::unique_ptr<SqliteWriter>> SqliteWriter::open(const std::string& path) {
  auto connection = open_for_writing(path);
  if (!connection) return connection.error();
  auto writer = std::make_unique<SqliteWriter>(std::move(*connection));
  if (auto done = writer->prepare.result(); !done) return done.error();
  if (auto done = recall(*writer); !done) return done.error();
  return writer;
}

}  // namespace eventq::sqlite
