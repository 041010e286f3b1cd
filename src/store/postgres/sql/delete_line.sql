-- delete_line.sql: events that leave their place in line; fails as update_live.sql does.
WITH done AS (
  DELETE FROM eventq.event_line AS l
   USING unnest($1::eventq.event_line[]) AS c
   WHERE l.queue = c.queue AND l.ordering_key = c.ordering_key AND l.head = c.head AND l.id = c.id
  RETURNING 1
)
SELECT eventq.demand_rows(count(*), cardinality($1::eventq.event_line[])) FROM done
