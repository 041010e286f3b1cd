-- event_log.sql: an event's entries, oldest first. The last columns are the person that caused the entry, and the detail
-- of a failure; both may be null.
SELECT l.id, l.event_id, l.attempt, l.worker_id, l.action, l.status_code, l.error_message, l.execution_time_ms, l.errors,
       l.reason, l.retry_count, l.next_retry_at, l.created_at, a.author, d.detail
  FROM event_log AS l
  LEFT JOIN event_log_author AS a ON a.event_id = l.event_id AND a.id = l.id
  LEFT JOIN event_log_detail AS d ON d.event_id = l.event_id AND d.id = l.id
 WHERE l.event_id = ?1
 ORDER BY l.id;
