// writer.cc: see writer.h.
#include "store/sqlite/writer.h"

#include <utility>

#include "generated/sqlite_sql.h"
#include "store/sqlite/migrate.h"

namespace eventq::sqlite {
namespace {

// Durability is set and read back: a file system or build that says no is not started on.
Result<void> configure(Connection& connection) {
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

using Member = Statement Writer::*;

constexpr std::pair<Member, std::string_view> kStatements[] = {
    {&Writer::begin, sql::begin},
    {&Writer::commit, sql::commit},
    {&Writer::rollback, sql::rollback},
    {&Writer::insert_body, sql::insert_body},
    {&Writer::insert_live, sql::insert_live},
    {&Writer::update_live, sql::update_live},
    {&Writer::delete_live, sql::delete_live},
    {&Writer::insert_archive, sql::insert_archive},
    {&Writer::delete_archive, sql::delete_archive},
    {&Writer::insert_ready, sql::insert_ready},
    {&Writer::delete_ready, sql::delete_ready},
    {&Writer::mark_ready, sql::mark_ready},
    {&Writer::ready_by_tag, sql::ready_by_tag},
    {&Writer::add_any_tag_queue, sql::add_any_tag_queue},
    {&Writer::fill_any_tag, sql::fill_any_tag},
    {&Writer::due, sql::due},
    {&Writer::next_due, sql::next_due},
    {&Writer::load_state, sql::load_state},
    {&Writer::load_live, sql::load_live},
    {&Writer::load_archived, sql::load_archived},
    {&Writer::find_event, sql::find_event},
    {&Writer::append_entry, sql::append_entry},
    {&Writer::event_log, sql::event_log},
    {&Writer::find_key, sql::find_key},
    {&Writer::put_key, sql::put_key},
    {&Writer::purge_keys, sql::purge_keys},
    {&Writer::change_count, sql::change_count},
    {&Writer::write_last_id, sql::write_last_id},
    {&Writer::insert_line, sql::insert_line},
    {&Writer::delete_line, sql::delete_line},
    {&Writer::first_in_line, sql::first_in_line},
    {&Writer::insert_supersede, sql::insert_supersede},
    {&Writer::delete_supersede, sql::delete_supersede},
    {&Writer::with_supersede_key, sql::with_supersede_key},
    {&Writer::delete_body, sql::delete_body},
    {&Writer::delete_log, sql::delete_log},
    {&Writer::change_cause, sql::change_cause},
    {&Writer::drop_causes, sql::drop_causes},
    {&Writer::ended, sql::ended},
    {&Writer::holding_line, sql::holding_line},
    {&Writer::find_correlation, sql::find_correlation},
    {&Writer::put_correlation, sql::put_correlation},
    {&Writer::delete_correlation, sql::delete_correlation},
    {&Writer::put_queue, sql::put_queue},
    {&Writer::add_queue, sql::add_queue},
    {&Writer::add_totals, sql::add_totals},
    {&Writer::add_failed_hour, sql::add_failed_hour},
    {&Writer::drop_failed_hours, sql::drop_failed_hours},
    {&Writer::put_checkpoint, sql::put_checkpoint},
    {&Writer::drop_checkpoints, sql::drop_checkpoints},
    {&Writer::find_checkpoint, sql::find_checkpoint},
    {&Writer::put_recovery, sql::put_recovery},
    {&Writer::add_worker, sql::add_worker},
    {&Writer::drop_workers, sql::drop_workers},
    {&Writer::put_archive_file, sql::put_archive_file},
    {&Writer::oldest_pending, sql::oldest_pending},
};

Result<std::int64_t> read_last_id(Connection& connection, std::string_view name) {
  auto statement = Statement::prepare(connection, sql::read_last_id);
  if (!statement) return statement.error();
  const auto row = statement->bind(name).step();
  if (!row) return row.error();
  return statement->integer(0);
}

Result<std::set<std::string>> read_any_tag_queues(Connection& connection) {
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

// What the writer keeps in memory of the file.
Result<void> recall(Writer& writer) {
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

Result<std::unique_ptr<Writer>> Writer::open(const std::string& path) {
  auto connection = Connection::open(path, Connection::Mode::write);
  if (!connection) return connection.error();
  auto writer = std::make_unique<Writer>(std::move(*connection));
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
