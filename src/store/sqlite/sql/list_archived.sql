-- list_archived.sql: completed events behind ?1 in the order of their ids; the common end.
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.updated_at, s.updated_at, 0,
       b.event_id, b.title, b.correlation_id, NULL, NULL
  FROM event_archive AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id > ?1
 ORDER BY s.id;
