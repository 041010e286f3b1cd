-- worker_log.sql: the log of all events before the entry ?2 of event ?1, backwards. There is no index by worker, so the reader
-- selects the entries of one.
SELECT id, event_id, attempt, worker_id, action, status_code, error_message, execution_time_ms, errors, reason,
       retry_count, next_retry_at, created_at
  FROM event_log
 WHERE (event_id, id) < (?1, ?2)
 ORDER BY event_id DESC, id DESC;
