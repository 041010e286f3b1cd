-- put_keys.sql: replaces keys that are too old to count.
INSERT INTO eventq.idempotency_key (key, fingerprint, events, created_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
    ON CONFLICT (key) DO UPDATE
   SET fingerprint = excluded.fingerprint, events = excluded.events, created_at = excluded.created_at;
