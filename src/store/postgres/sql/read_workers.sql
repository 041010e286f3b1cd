-- read_workers.sql: all workers, by id.
SELECT id, first_seen, last_seen, completed, failed FROM eventq.worker ORDER BY id;
