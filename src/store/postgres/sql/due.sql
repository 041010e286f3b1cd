-- due.sql: up to $2 events that came due by $1 and do not stand in the ready index yet; not those that somebody
-- else is at.
WITH locked AS MATERIALIZED (
  SELECT q.id, q.status, q.attempts, q.retry_count, q.unreported, q.worker_id, q.due_at, q.updated_at, q.ready,
         q.turn, q.picked_at, q.priority
    FROM eventq.event_queue AS q
   WHERE q.ready = 0 AND q.due_at <= $1
   ORDER BY q.due_at, q.id
   LIMIT $2
     FOR UPDATE OF q SKIP LOCKED
)
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, s.turn, s.picked_at, NULL::bigint, NULL::text,
       0::bigint, b.event_id
  FROM locked AS s
 CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = s.id OFFSET 0) AS b
 ORDER BY s.due_at, s.id
