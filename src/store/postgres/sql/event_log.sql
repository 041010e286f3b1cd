-- event_log.sql: all log entries of an event, the oldest first.
SELECT id, event_id, attempt, worker_id, action, status_code, error_message, execution_time_ms, errors, reason,
       retry_count, next_retry_at, created_at
  FROM eventq.event_log
 WHERE event_id = $1
 ORDER BY id
