-- delete_ready.sql: events that may no longer be claimed; fails as update_live.sql does.
WITH done AS (
  DELETE FROM eventq.event_ready AS r
   USING unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS c (id, queue, tag, priority, turn)
         CROSS JOIN LATERAL (SELECT ctid AS row FROM eventq.event_ready
                              WHERE queue = c.queue AND tag = c.tag AND priority = c.priority AND turn = c.turn
                                AND id = c.id
                             OFFSET 0) AS found
   WHERE r.ctid = found.row
  RETURNING 1
)
SELECT eventq.demand_rows(count(*), cardinality($1::bigint[])) FROM done
