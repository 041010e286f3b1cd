-- all_entries.sql: all log entries, ordered by event as in all_events.sql.
SELECT event_id, id, attempt, worker_id, action, next_retry_at IS NOT NULL, errors IS NOT NULL
  FROM event_log
 ORDER BY event_id, id;
