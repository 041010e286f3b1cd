-- event_log.sql: an event's entries, oldest first.
SELECT id, event_id, attempt, worker_id, action, status_code, error_message, execution_time_ms, errors, reason,
       retry_count, next_retry_at, created_at
  FROM event_log
 WHERE event_id = ?1
 ORDER BY id;
