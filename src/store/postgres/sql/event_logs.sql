-- event_logs.sql: the logs of the events $1, each event's oldest entry first, in the columns of event_log.sql.
SELECT l.id, l.event_id, l.attempt, l.worker_id, l.action, l.status_code, l.error_message, l.execution_time_ms, l.errors,
       l.reason, l.retry_count, l.next_retry_at, l.created_at, a.author, d.detail
  FROM eventq.event_log AS l
  LEFT JOIN eventq.event_log_author AS a ON a.event_id = l.event_id AND a.id = l.id
  LEFT JOIN eventq.event_log_detail AS d ON d.event_id = l.event_id AND d.id = l.id
 WHERE l.event_id = ANY ($1::bigint[])
 ORDER BY l.event_id, l.id;
