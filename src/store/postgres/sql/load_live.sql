-- load_live.sql: the state of the live ones of the events $1, and of the pending events with the supersede keys $3 of
-- the queues $2. Locks the rows in the order of their ids.
WITH locked AS MATERIALIZED (
  SELECT {{locked_live}}, q.priority
    FROM eventq.event_queue AS q
   WHERE q.id = ANY (ARRAY (SELECT unnest($1::bigint[])
                             UNION
                            SELECT s.id
                              FROM unnest($2::text[], $3::text[]) AS k (queue, supersede_key)
                             CROSS JOIN LATERAL (SELECT id FROM eventq.event_supersede
                                                  WHERE queue = k.queue AND supersede_key = k.supersede_key
                                                 OFFSET 0) AS s))
   ORDER BY q.id
     FOR UPDATE OF q
)
SELECT {{state_of_live}}
  FROM locked AS s
 CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = s.id OFFSET 0) AS b
