-- find_keys.sql: idempotency keys, and the events that were published with them.
SELECT key, fingerprint, events, created_at FROM eventq.idempotency_key WHERE key = ANY ($1::text[]);
