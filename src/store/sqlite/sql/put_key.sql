-- put_key.sql: replaces a key that is too old to count.
INSERT OR REPLACE INTO idempotency_key (key, fingerprint, events, created_at)
VALUES (?1, ?2, ?3, ?4);
