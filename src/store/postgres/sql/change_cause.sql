-- change_cause.sql: how many more, or fewer, events have failed for a cause.
INSERT INTO eventq.failure_cause AS f (queue, cause, n, slot)
SELECT c.queue, c.cause, c.n, pg_backend_pid() % 16
  FROM unnest($1::text[], $2::text[], $3::bigint[]) AS c (queue, cause, n)
    ON CONFLICT (queue, cause, slot) DO UPDATE SET n = f.n + excluded.n
