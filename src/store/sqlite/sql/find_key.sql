-- find_key.sql: what a publisher's key stands for.
SELECT fingerprint, events, created_at FROM idempotency_key WHERE key = ?1;
