-- add_failed_hours.sql: adds to the counters of events that failed for good, by hour.
INSERT INTO eventq.failed_hour AS f (hour, n, slot)
SELECT hour, n, pg_backend_pid() % 16 FROM unnest($1::eventq.failed_hour[])
    ON CONFLICT (hour, slot) DO UPDATE SET n = f.n + excluded.n;
