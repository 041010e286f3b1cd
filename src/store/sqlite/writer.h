// writer.h: the one connection that writes, and its prepared statements.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "generated/sqlite_sql.h"
#include "store/sqlite/connection.h"

namespace eventq::sqlite {

// Opens or creates the file of a store: sets and reads back the durability settings, and migrates it.
Result<SqliteConnection> open_for_writing(const std::string& path);

struct SqliteWriter {
  static Result<std::unique_ptr<SqliteWriter>> open(const std::string& path);
  explicit SqliteWriter(SqliteConnection&& opened) : connection(std::move(opened)) {}

  SqliteConnection connection;
  Preparer prepare{connection};

  Statement begin = prepare(sql::begin);
  Statement commit = prepare(sql::commit);
  Statement rollback = prepare(sql::rollback);
  Statement insert_body = prepare(sql::insert_body);
  Statement insert_live = prepare(sql::insert_live);
  Statement update_live = prepare(sql::update_live);
  Statement delete_live = prepare(sql::delete_live);
  Statement insert_archive = prepare(sql::insert_archive);
  Statement delete_archive = prepare(sql::delete_archive);
  Statement insert_ready = prepare(sql::insert_ready);
  Statement delete_ready = prepare(sql::delete_ready);
  Statement mark_ready = prepare(sql::mark_ready);
  Statement ready_by_tag = prepare(sql::ready_by_tag);
  Statement add_any_tag_queue = prepare(sql::add_any_tag_queue);
  Statement fill_any_tag = prepare(sql::fill_any_tag);
  Statement due = prepare(sql::due);
  Statement next_due = prepare(sql::next_due);
  Statement load_state = prepare(sql::load_state);
  Statement load_live = prepare(sql::load_live);
  Statement load_archived = prepare(sql::load_archived);
  Statement find_event = prepare(sql::find_event);
  Statement append_entry = prepare(sql::append_entry);
  Statement append_author = prepare(sql::append_author);
  Statement append_detail = prepare(sql::append_detail);
  Statement insert_result = prepare(sql::insert_result);
  Statement event_log = prepare(sql::event_log);
  Statement find_key = prepare(sql::find_key);
  Statement put_key = prepare(sql::put_key);
  Statement purge_keys = prepare(sql::purge_keys);
  Statement change_count = prepare(sql::change_count);
  Statement write_last_id = prepare(sql::write_last_id);
  Statement insert_line = prepare(sql::insert_line);
  Statement delete_line = prepare(sql::delete_line);
  Statement first_in_line = prepare(sql::first_in_line);
  Statement insert_supersede = prepare(sql::insert_supersede);
  Statement delete_supersede = prepare(sql::delete_supersede);
  Statement with_supersede_key = prepare(sql::with_supersede_key);
  Statement delete_body = prepare(sql::delete_body);
  Statement delete_log = prepare(sql::delete_log);
  Statement delete_authors = prepare(sql::delete_authors);
  Statement delete_details = prepare(sql::delete_details);
  Statement delete_result = prepare(sql::delete_result);
  Statement change_cause = prepare(sql::change_cause);
  Statement drop_causes = prepare(sql::drop_causes);
  Statement ended = prepare(sql::ended);
  Statement holding_line = prepare(sql::holding_line);
  Statement find_correlation = prepare(sql::find_correlation);
  Statement correlated_ends = prepare(sql::correlated_ends);
  Statement put_correlation = prepare(sql::put_correlation);
  Statement delete_correlation = prepare(sql::delete_correlation);
  Statement put_queue = prepare(sql::put_queue);
  Statement add_queue = prepare(sql::add_queue);
  Statement add_totals = prepare(sql::add_totals);
  Statement add_failed_hour = prepare(sql::add_failed_hour);
  Statement drop_failed_hours = prepare(sql::drop_failed_hours);
  Statement put_checkpoint = prepare(sql::put_checkpoint);
  Statement drop_checkpoints = prepare(sql::drop_checkpoints);
  Statement find_checkpoint = prepare(sql::find_checkpoint);
  Statement count_requested = prepare(sql::count_requested);
  Statement delete_checkpoint = prepare(sql::delete_checkpoint);
  Statement delete_queue = prepare(sql::delete_queue);
  Statement delete_checkpoints = prepare(sql::delete_checkpoints);
  Statement delete_recovery = prepare(sql::delete_recovery);
  Statement delete_totals = prepare(sql::delete_totals);
  Statement delete_counts = prepare(sql::delete_counts);
  Statement append_queue_log = prepare(sql::append_queue_log);
  Statement drop_queue_log = prepare(sql::drop_queue_log);
  Statement put_default = prepare(sql::put_default);
  Statement put_recovery = prepare(sql::put_recovery);
  Statement add_worker = prepare(sql::add_worker);
  Statement drop_workers = prepare(sql::drop_workers);
  Statement put_ask = prepare(sql::put_ask);
  Statement drop_asks = prepare(sql::drop_asks);
  Statement put_sign_off = prepare(sql::put_sign_off);
  Statement drop_sign_offs = prepare(sql::drop_sign_offs);
  Statement put_archive_file = prepare(sql::put_archive_file);
  Statement oldest_pending = prepare(sql::oldest_pending);

  // The last ids assigned. A rollback does not lower them, so ids are never reused.
  std::int64_t last_event_id = 0;
  std::int64_t last_log_id = 0;

  // Commits may skip the disk sync: synchronous is NORMAL, and a commit with DiskSync::now calls sync_log().
  bool later_allowed = false;

  // Queues whose ready events also have a row with the empty tag, for claims without tags.
  std::set<std::string> any_tag_queues;
};

}  // namespace eventq::sqlite
