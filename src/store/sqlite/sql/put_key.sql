-- put_key.sql: sets an idempotency key; replaces an expired one.
INSERT OR REPLACE INTO idempotency_key (key, fingerprint, events, created_at)
VALUES (?1, ?2, ?3, ?4);
