-- delete_archive.sql: deletes events from the archive, each under its guard. Finds rows and fails as leave.sql does.
WITH done AS (
  DELETE FROM eventq.event_archive AS q
   USING unnest($1::eventq.guard[]) AS c
         CROSS JOIN LATERAL (SELECT ctid AS row FROM eventq.event_archive
                              WHERE id = c.id AND status = c.status AND attempts = c.attempts AND worker_id = c.worker_id
                             OFFSET 0) AS found
   WHERE q.ctid = found.row
  RETURNING 1
)
SELECT eventq.demand_rows(count(*), cardinality($1::eventq.guard[])) FROM done
