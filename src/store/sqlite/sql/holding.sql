-- holding.sql: how many events of queue ?2 worker ?1 holds. An expired lease counts until the event is in the
-- ready index.
SELECT count(*)
  FROM event_queue INDEXED BY event_queue_due
 WHERE ready = 0 AND status = 'PROCESSING' AND worker_id = ?1 AND queue = ?2;
