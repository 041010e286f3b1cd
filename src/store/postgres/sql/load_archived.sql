-- load_archived.sql: the state of the archived ones of the events $1. Locks the rows in the order of their ids.
WITH locked AS MATERIALIZED (
  SELECT q.id, q.status, q.attempts, q.retry_count, q.unreported, q.worker_id, q.updated_at, q.picked_at,
         q.superseded_by, q.cause, q.holds_line
    FROM eventq.event_archive AS q
   WHERE q.id = ANY ($1::bigint[])
   ORDER BY q.id
     FOR UPDATE OF q
)
SELECT {{state_of_archived}}
  FROM locked AS s
 CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = s.id OFFSET 0) AS b
