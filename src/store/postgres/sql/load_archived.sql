-- load_archived.sql: heads of the ended ones of the events $1, locked in the order of their ids.
WITH locked AS MATERIALIZED (
  SELECT q.id, q.status, q.attempts, q.retry_count, q.unreported, q.worker_id, q.updated_at, q.picked_at,
         q.superseded_by, q.cause, q.holds_line
    FROM eventq.event_archive AS q
   WHERE q.id = ANY ($1::bigint[])
   ORDER BY q.id
     FOR UPDATE OF q
)
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.updated_at, s.updated_at, 0::bigint,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, b.id, s.picked_at, s.superseded_by, s.cause,
       s.holds_line, b.event_id
  FROM locked AS s
 CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = s.id OFFSET 0) AS b
