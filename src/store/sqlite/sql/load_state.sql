-- load_state.sql: what rules look at of a live event: the first columns of load_live.sql.
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, s.turn, s.picked_at, NULL, NULL, 0, b.event_id
  FROM event_queue AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id = ?1;
