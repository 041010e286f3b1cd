-- update_live.sql: the new state of live events, each under its guard. Fails when a row no longer says what its
-- guard does.
WITH done AS (
  UPDATE eventq.event_queue AS q
     SET status = c.status, attempts = c.attempts, retry_count = c.retry_count, unreported = c.unreported,
         worker_id = c.worker_id, due_at = c.due_at, ready = c.ready, updated_at = c.updated_at, turn = c.turn,
         picked_at = c.picked_at
    FROM unnest($1::eventq.event_queue[], $2::eventq.guard[])
         AS c (id, queue, status, attempts, retry_count, unreported, worker_id, due_at, ready, turn, picked_at,
               updated_at, priority, guard_id, guard_status, guard_attempts, guard_worker_id)
         CROSS JOIN LATERAL (SELECT ctid AS row FROM eventq.event_queue
                              WHERE id = c.guard_id AND status = c.guard_status AND attempts = c.guard_attempts
                                AND worker_id = c.guard_worker_id
                             OFFSET 0) AS found
   WHERE q.ctid = found.row
  RETURNING 1
)
SELECT eventq.demand_rows(count(*), cardinality($1::eventq.event_queue[])) FROM done
