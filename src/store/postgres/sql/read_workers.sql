-- read_workers.sql: all that are kept.
SELECT id, first_seen, last_seen, completed, failed FROM eventq.worker ORDER BY id;
