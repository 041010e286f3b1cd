-- processing.sql: heads of events in work.
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, s.turn, s.picked_at, NULL::bigint, NULL::text,
       0::bigint, b.event_id
  FROM eventq.event_queue AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 WHERE s.status = 'PROCESSING'
 ORDER BY s.id;
