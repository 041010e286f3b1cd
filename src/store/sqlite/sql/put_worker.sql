-- put_worker.sql: what a worker did so far.
INSERT OR REPLACE INTO worker (id, first_seen, last_seen, completed, failed)
VALUES (?1, ?2, ?3, ?4, ?5);
