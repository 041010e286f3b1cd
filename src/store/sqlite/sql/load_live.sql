-- load_live.sql: a live event.
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
       b.event_id, b.title, b.correlation_id, b.description, b.payload
  FROM event_queue AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id = ?1;
