-- put_keys.sql: inserts keys, or replaces expired ones.
INSERT INTO eventq.idempotency_key SELECT * FROM unnest($1::eventq.idempotency_key[])
    ON CONFLICT (key) DO UPDATE
   SET fingerprint = excluded.fingerprint, events = excluded.events, created_at = excluded.created_at;
