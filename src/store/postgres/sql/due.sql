-- due.sql: up to $2 events that came due by $1 and are not in the ready index yet. Skips rows that another
-- transaction has locked.
WITH locked AS MATERIALIZED (
  SELECT {{locked_live}}, q.priority
    FROM eventq.event_queue AS q
   WHERE q.ready = 0 AND q.due_at <= $1
   ORDER BY q.due_at, q.id
   LIMIT $2
     FOR UPDATE OF q SKIP LOCKED
)
SELECT {{state_of_live}}
  FROM locked AS s
 CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = s.id OFFSET 0) AS b
 ORDER BY s.due_at, s.id
