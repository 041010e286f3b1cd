-- add_workers.sql: what workers did since the last time.
INSERT INTO eventq.worker AS w (id, first_seen, last_seen, completed, failed)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
    ON CONFLICT (id) DO UPDATE
   SET last_seen = greatest(w.last_seen, excluded.last_seen),
       completed = w.completed + excluded.completed,
       failed = w.failed + excluded.failed;
