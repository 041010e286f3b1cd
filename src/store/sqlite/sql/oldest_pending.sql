-- oldest_pending.sql: the creation time of the first pending event of a queue.
SELECT b.created_at
  FROM event_queue AS s INDEXED BY event_queue_live
  JOIN event_body AS b ON b.id = s.id
 WHERE s.queue = ?1 AND s.status = 'PENDING'
 ORDER BY s.id
 LIMIT 1;
