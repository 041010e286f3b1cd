// writer.h: the one connection that writes, and its prepared statements.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "store/sqlite/connection.h"

namespace eventq::sqlite {

struct SqliteWriter {
  // Opens the file, sets and reads back the durability settings, migrates it, and prepares the statements.
  static Result<std::unique_ptr<SqliteWriter>> open(const std::string& path);
  explicit SqliteWriter(SqliteConnection&& opened) : connection(std::move(opened)) {}

  SqliteConnection connection;

  Statement begin, commit, rollback;
  Statement insert_body, insert_live, update_live, delete_live, insert_archive, delete_archive;
  Statement insert_ready, delete_ready, mark_ready, ready_by_tag, add_any_tag_queue, fill_any_tag, due,
      next_due;
  Statement load_state, load_live, load_archived, find_event;
  Statement append_entry, event_log;
  Statement find_key, put_key, purge_keys, change_count, write_last_id;
  Statement insert_line, delete_line, first_in_line, insert_supersede, delete_supersede, with_supersede_key;
  Statement delete_body, delete_log, change_cause, drop_causes, ended, holding_line;
  Statement find_correlation, put_correlation, delete_correlation;
  Statement put_queue, add_queue, add_totals, add_failed_hour, drop_failed_hours, put_checkpoint,
      drop_checkpoints, find_checkpoint, put_recovery, add_worker, drop_workers, put_archive_file,
      oldest_pending;

  // The last ids assigned. A rollback does not lower them, so ids are never reused.
  std::int64_t last_event_id = 0;
  std::int64_t last_log_id = 0;

  // Commits may skip the disk sync: synchronous is NORMAL, and a commit with DiskSync::now calls sync_log().
  bool later_allowed = false;

  // Queues whose ready events also have a row with the empty tag, for claims without tags.
  std::set<std::string> any_tag_queues;
};

}  // namespace eventq::sqlite
