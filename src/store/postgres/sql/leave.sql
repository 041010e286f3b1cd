-- leave.sql: deletes event_ready rows of events that may no longer be claimed $1. Deletes live events that move to the
-- archive, by their guards $2. Changes live events to the state $3, by their guards $4. Fails if a row is missing or
-- does not match its guard.
--
-- Each row is found by a subquery with OFFSET 0, because the planner would otherwise read a whole index of a table that
-- was vacuumed while it was small.
WITH gone_ready AS (
  DELETE FROM eventq.event_ready AS r
   USING unnest($1::eventq.event_ready[]) AS c
         CROSS JOIN LATERAL (SELECT ctid AS row FROM eventq.event_ready
                              WHERE queue = c.queue AND tag = c.tag AND rank = c.rank AND turn = c.turn AND id = c.id
                             OFFSET 0) AS found
   WHERE r.ctid = found.row
  RETURNING 1
), gone_live AS (
  DELETE FROM eventq.event_queue AS q
   USING unnest($2::eventq.guard[]) AS c
         CROSS JOIN LATERAL (SELECT ctid AS row FROM eventq.event_queue
                              WHERE id = c.id AND status = c.status AND attempts = c.attempts AND worker_id = c.worker_id
                             OFFSET 0) AS found
   WHERE q.ctid = found.row
  RETURNING 1
), changed AS (
  UPDATE eventq.event_queue AS q
     SET status = c.status, attempts = c.attempts, retry_count = c.retry_count, unreported = c.unreported,
         worker_id = c.worker_id, due_at = c.due_at, ready = c.ready, updated_at = c.updated_at, turn = c.turn,
         picked_at = c.picked_at
    FROM unnest($3::eventq.event_queue[], $4::eventq.guard[])
         AS c (id, queue, status, attempts, retry_count, unreported, worker_id, due_at, ready, turn, picked_at,
               updated_at, priority, guard_id, guard_status, guard_attempts, guard_worker_id)
         CROSS JOIN LATERAL (SELECT ctid AS row FROM eventq.event_queue
                              WHERE id = c.guard_id AND status = c.guard_status AND attempts = c.guard_attempts
                                AND worker_id = c.guard_worker_id
                             OFFSET 0) AS found
   WHERE q.ctid = found.row
  RETURNING 1
)
SELECT eventq.demand_rows(found, wanted)
  FROM (SELECT (SELECT count(*) FROM gone_ready) + (SELECT count(*) FROM gone_live) +
               (SELECT count(*) FROM changed) AS found,
               cardinality($1::eventq.event_ready[]) + cardinality($2::eventq.guard[]) +
               cardinality($3::eventq.event_queue[]) AS wanted) AS n
 WHERE found <> wanted
