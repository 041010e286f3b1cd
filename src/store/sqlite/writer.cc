// writer.cc: see writer.h.
#include "store/sqlite/writer.h"

#include <utility>

#include "generated/sqlite_sql.h"
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
                     " (wal is needed) and synchronous " + *synchronous + " (2 is needed).",
                 "store"};
  }
  return {};
}

using StatementMember = Statement SqliteWriter::*;

constexpr std::pair<StatementMember, std::string_view> kStatements[] = {
    {&SqliteWriter::begin, sql::begin},
    {&SqliteWriter::commit, sql::commit},
    {&SqliteWriter::rollback, sql::rollback},
    {&SqliteWriter::insert_body, sql::insert_body},
    {&SqliteWriter::insert_live, sql::insert_live},
    {&SqliteWriter::update_live, sql::update_live},
    {&SqliteWriter::delete_live, sql::delete_live},
    {&SqliteWriter::insert_archive, sql::insert_archive},
    {&SqliteWriter::delete_archive, sql::delete_archive},
    {&SqliteWriter::insert_ready, sql::insert_ready},
    {&SqliteWriter::delete_ready, sql::delete_ready},
    {&SqliteWriter::mark_ready, sql::mark_ready},
    {&SqliteWriter::ready_by_tag, sql::ready_by_tag},
    {&SqliteWriter::add_any_tag_queue, sql::add_any_tag_queue},
    {&SqliteWriter::fill_any_tag, sql::fill_any_tag},
    {&SqliteWriter::due, sql::due},
    {&SqliteWriter::next_due, sql::next_due},
    {&SqliteWriter::load_state, sql::load_state},
    {&SqliteWriter::load_live, sql::load_live},
    {&SqliteWriter::load_archived, sql::load_archived},
    {&SqliteWriter::find_event, sql::find_event},
    {&SqliteWriter::append_entry, sql::append_entry},
    {&SqliteWriter::event_log, sql::event_log},
    {&SqliteWriter::find_key, sql::find_key},
    {&SqliteWriter::put_key, sql::put_key},
    {&SqliteWriter::purge_keys, sql::purge_keys},
    {&SqliteWriter::change_count, sql::change_count},
    {&SqliteWriter::write_last_id, sql::write_last_id},
    {&SqliteWriter::insert_line, sql::insert_line},
    {&SqliteWriter::delete_line, sql::delete_line},
    {&SqliteWriter::first_in_line, sql::first_in_line},
    {&SqliteWriter::insert_supersede, sql::insert_supersede},
    {&SqliteWriter::delete_supersede, sql::delete_supersede},
    {&SqliteWriter::with_supersede_key, sql::with_supersede_key},
    {&SqliteWriter::delete_body, sql::delete_body},
    {&SqliteWriter::delete_log, sql::delete_log},
    {&SqliteWriter::change_cause, sql::change_cause},
    {&SqliteWriter::drop_causes, sql::drop_causes},
    {&SqliteWriter::ended, sql::ended},
    {&SqliteWriter::holding_line, sql::holding_line},
    {&SqliteWriter::find_correlation, sql::find_correlation},
    {&SqliteWriter::put_correlation, sql::put_correlation},
    {&SqliteWriter::delete_correlation, sql::delete_correlation},
    {&SqliteWriter::put_queue, sql::put_queue},
    {&SqliteWriter::add_queue, sql::add_queue},
    {&SqliteWriter::add_totals, sql::add_totals},
    {&SqliteWriter::add_failed_hour, sql::add_failed_hour},
    {&SqliteWriter::drop_failed_hours, sql::drop_failed_hours},
    {&SqliteWriter::put_checkpoint, sql::put_checkpoint},
    {&SqliteWriter::drop_checkpoints, sql::drop_checkpoints},
    {&SqliteWriter::find_checkpoint, sql::find_checkpoint},
    {&SqliteWriter::put_recovery, sql::put_recovery},
    {&SqliteWriter::add_worker, sql::add_worker},
    {&SqliteWriter::drop_workers, sql::drop_workers},
    {&SqliteWriter::put_archive_file, sql::put_archive_file},
    {&SqliteWriter::oldest_pending, sql::oldest_pending},
};

Result<std::int64_t> read_last_id(SqliteConnection& connection, std::string_view name) {
  auto statement = Statement::prepare(connection, sql::read_last_id);
  if (!statement) return statement.error();
  const auto row = statement->bind(name).step();
  if (!row) return row.error();
  return statement->integer(0);
}

Result<std::set<std::string>> read_any_tag_queues(SqliteConnection& connection) {
  auto statement = Statement::prepare(connection, sql::read_any_tag_queues);
  if (!statement) return statement.error();
  std::set<std::string> queues;
  for (;;) {
    const auto row = statement->step();
    if (!row) return row.error();
    if (!*row) return queues;
    queues.emplace(statement->text(0));
  }
}

// Reads what the writer caches of the file.
Result<void> recall(SqliteWriter& writer) {
  const auto last_event_id = read_last_id(writer.connection, "event");
  if (!last_event_id) return last_event_id.error();
  const auto last_log_id = read_last_id(writer.connection, "log");
  if (!last_log_id) return last_log_id.error();
  auto queues = read_any_tag_queues(writer.connection);
  if (!queues) return queues.error();
  writer.last_event_id = *last_event_id;
  writer.last_log_id = *last_log_id;
  writer.any_tag_queues = std::move(*queues);
  return {};
}

}  // namespace

Result<std::unique_ptr<SqliteWriter>> SqliteWriter::open(const std::string& path) {
  auto connection = SqliteConnection::open(path, SqliteConnection::OpenMode::write);
  if (!connection) return connection.error();
  auto writer = std::make_unique<SqliteWriter>(std::move(*connection));
  if (auto done = check_owner(writer->connection); !done) return done.error();
  if (auto done = configure(writer->connection); !done) return done.error();
  if (auto done = migrate(writer->connection); !done) return done.error();
  if (auto done = recall(*writer); !done) return done.error();
  for (const auto& [member, text] : kStatements) {
    auto statement = Statement::prepare(writer->connection, text);
    if (!statement) return statement.error();
    (*writer).*member = std::move(*statement);
  }
  return writer;
}

}  // namespace eventq::sqlite
