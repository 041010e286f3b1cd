-- add_worker.sql: what a worker did since the last time.
INSERT INTO worker (id, first_seen, last_seen, completed, failed)
VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (id) DO UPDATE
   SET last_seen = max(last_seen, excluded.last_seen),
       completed = completed + excluded.completed,
       failed = failed + excluded.failed;
