-- drop_causes.sql: deletes counters of this connection's slot that are zero.
DELETE FROM eventq.failure_cause AS f
 USING unnest($1::eventq.failure_cause[]) AS c
 WHERE f.queue = c.queue AND f.cause = c.cause AND f.slot = pg_backend_pid() % 16 AND f.n = 0
