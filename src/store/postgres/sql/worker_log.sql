-- worker_log.sql: up to $5 entries of worker $4 among the $3 entries before the entry $2 of event $1, backwards.
SELECT id, event_id, attempt, worker_id, action, status_code, error_message, execution_time_ms, errors, reason,
       retry_count, next_retry_at, created_at
  FROM (SELECT * FROM eventq.event_log
         WHERE (event_id, id) < ($1, $2)
         ORDER BY event_id DESC, id DESC LIMIT $3) AS part
 WHERE worker_id = $4
 ORDER BY event_id DESC, id DESC LIMIT $5;
