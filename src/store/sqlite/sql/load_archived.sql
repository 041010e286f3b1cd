-- load_archived.sql: an ended event, in the columns of load_live.sql.
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.updated_at, s.updated_at, 0,
       b.event_id, b.title, b.correlation_id, b.description, b.payload
  FROM event_archive AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id = ?1;
