-- load_plain.sql: the state of the live ones of the events $1 whose bodies name nothing to lock (see lock_names.sql).
-- Locks the rows in the order of their ids.
WITH locked AS MATERIALIZED (
  SELECT {{locked_live}}
    FROM eventq.event_queue AS q
   WHERE q.id = ANY ($1::bigint[])
   ORDER BY q.id
     FOR UPDATE OF q
)
SELECT {{state_of_live}}
  FROM locked AS s
 CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = s.id OFFSET 0) AS b
 WHERE b.ordering_key = '' AND b.supersede_key = '' AND b.correlation_id = ''
