-- delete_archive.sql: events that leave the archive, each under its guard; fails as update_live.sql does.
WITH done AS (
  DELETE FROM eventq.event_archive AS q
   USING unnest($1::eventq.guard[]) AS c
   WHERE q.id = c.id AND q.status = c.status AND q.attempts = c.attempts AND q.worker_id = c.worker_id
  RETURNING 1
)
SELECT eventq.demand_rows(count(*), cardinality($1::eventq.guard[])) FROM done
