-- read_workers.sql: workers that were seen since $1, by id.
SELECT id, first_seen, last_seen, completed, failed FROM eventq.worker WHERE last_seen >= $1 ORDER BY id;
