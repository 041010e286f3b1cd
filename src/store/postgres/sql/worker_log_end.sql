-- worker_log_end.sql: the last of the $3 entries that worker_log.sql reads; no row if the log has no more entries.
SELECT event_id, id FROM eventq.event_log
 WHERE (event_id, id) < ($1, $2)
 ORDER BY event_id DESC, id DESC OFFSET $3 - 1 LIMIT 1;
