-- add_worker.sql: adds to the counters of a worker, and raises its last_seen.
INSERT INTO worker (id, first_seen, last_seen, completed, failed)
VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (id) DO UPDATE
   SET last_seen = max(last_seen, excluded.last_seen),
       completed = completed + excluded.completed,
       failed = failed + excluded.failed;
