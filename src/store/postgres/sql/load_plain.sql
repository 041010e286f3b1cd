-- load_plain.sql: heads of the live ones of the events $1 whose bodies name nothing (see lock_names.sql), locked in the
-- order of their ids.
WITH locked AS MATERIALIZED (
  SELECT q.id, q.status, q.attempts, q.retry_count, q.unreported, q.worker_id, q.due_at, q.updated_at, q.ready,
         q.turn, q.picked_at
    FROM eventq.event_queue AS q
   WHERE q.id = ANY ($1::bigint[])
   ORDER BY q.id
     FOR UPDATE OF q
)
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, s.turn, s.picked_at, NULL::bigint, NULL::text,
       0::bigint, b.event_id
  FROM locked AS s
 CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = s.id OFFSET 0) AS b
 WHERE b.ordering_key = '' AND b.supersede_key = '' AND b.correlation_id = ''
