-- load_live.sql: a live event.
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, s.turn, s.picked_at, NULL, NULL, 0,
       b.event_id, b.title, b.sequence, b.timestamp, b.causation_id, b.trace_id, b.pattern, b.version,
       b.source_type, b.source_id, b.source_name, b.attributes, b.description, b.payload
  FROM event_queue AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id = ?1;
