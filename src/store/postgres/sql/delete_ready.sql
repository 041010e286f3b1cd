-- delete_ready.sql: events that may no longer be claimed; fails as update_live.sql does.
WITH done AS (
  DELETE FROM eventq.event_ready AS r
   USING unnest($1::eventq.event_ready[]) AS c
         CROSS JOIN LATERAL (SELECT ctid AS row FROM eventq.event_ready
                              WHERE queue = c.queue AND tag = c.tag AND priority = c.priority AND turn = c.turn
                                AND id = c.id
                             OFFSET 0) AS found
   WHERE r.ctid = found.row
  RETURNING 1
)
SELECT eventq.demand_rows(count(*), cardinality($1::eventq.event_ready[])) FROM done
