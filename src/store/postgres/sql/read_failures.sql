-- read_failures.sql: causes of failure, the most frequent first. $1 is a queue, or null.
SELECT f.queue, f.cause, f.n,
       (SELECT min(updated_at) FROM eventq.event_archive
         WHERE status = 'FAILED' AND queue = f.queue AND cause = f.cause),
       (SELECT max(updated_at) FROM eventq.event_archive
         WHERE status = 'FAILED' AND queue = f.queue AND cause = f.cause),
       (SELECT id FROM eventq.event_archive
         WHERE status = 'FAILED' AND queue = f.queue AND cause = f.cause
         ORDER BY updated_at DESC, id DESC LIMIT 1)
  FROM (SELECT queue, cause, sum(n)::bigint AS n
          FROM eventq.failure_cause
         WHERE $1::text IS NULL OR queue = $1
         GROUP BY queue, cause
        HAVING sum(n) > 0
         ORDER BY sum(n) DESC, queue, cause
         LIMIT $2) AS f
 ORDER BY f.n DESC, f.queue, f.cause;
