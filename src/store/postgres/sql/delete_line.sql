-- delete_line.sql: deletes the places of events in their lines. Finds rows and fails as leave.sql does.
WITH done AS (
  DELETE FROM eventq.event_line AS l
   USING unnest($1::eventq.event_line[]) AS c
         CROSS JOIN LATERAL (SELECT ctid AS row FROM eventq.event_line
                              WHERE queue = c.queue AND ordering_key = c.ordering_key AND head = c.head AND id = c.id
                             OFFSET 0) AS found
   WHERE l.ctid = found.row
  RETURNING 1
)
SELECT eventq.demand_rows(count(*), cardinality($1::eventq.event_line[])) FROM done
