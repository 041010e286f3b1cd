-- change_count.sql: how many more, or fewer, events are in a status.
INSERT INTO eventq.event_count AS n (queue, status, n, slot)
SELECT queue, status, n, pg_backend_pid() % 16 FROM unnest($1::eventq.event_count[])
    ON CONFLICT (queue, status, slot) DO UPDATE SET n = n.n + excluded.n
