-- list_queue.sql: live events of queue ?2 behind ?1, in the order of their ids.
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, s.turn, s.picked_at, NULL, NULL, 0,
       b.event_id, b.title, b.sequence, b.timestamp, b.causation_id, b.trace_id, b.pattern, b.version,
       b.source_type, b.source_id, b.source_name, b.attributes, NULL, NULL
  FROM event_queue AS s INDEXED BY event_queue_live
  JOIN event_body AS b ON b.id = s.id
 WHERE s.queue = ?2 AND s.id > ?1
 ORDER BY s.id;
