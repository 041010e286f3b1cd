-- find_key.sql: an idempotency key.
SELECT fingerprint, events, created_at FROM idempotency_key WHERE key = ?1;
