-- change_cause.sql: adds to the counters of failed events by cause. A change may be negative.
INSERT INTO eventq.failure_cause AS f (queue, cause, n, slot)
SELECT queue, cause, n, pg_backend_pid() % 16 FROM unnest($1::eventq.failure_cause[])
    ON CONFLICT (queue, cause, slot) DO UPDATE SET n = f.n + excluded.n
