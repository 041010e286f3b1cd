-- find_keys.sql: what publishers' keys stand for.
SELECT key, fingerprint, events, created_at FROM eventq.idempotency_key WHERE key = ANY ($1::text[]);
