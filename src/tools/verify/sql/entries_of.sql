-- entries_of.sql: the log of one event.
SELECT event_id, id, attempt, worker_id, action, next_retry_at IS NOT NULL, errors IS NOT NULL
  FROM event_log
 WHERE event_id = ?
 ORDER BY id;
