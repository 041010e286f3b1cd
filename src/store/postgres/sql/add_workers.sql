-- add_workers.sql: adds to the counters of workers.
INSERT INTO eventq.worker AS w SELECT * FROM unnest($1::eventq.worker[])
    ON CONFLICT (id) DO UPDATE
   SET last_seen = greatest(w.last_seen, excluded.last_seen),
       completed = w.completed + excluded.completed,
       failed = w.failed + excluded.failed;
