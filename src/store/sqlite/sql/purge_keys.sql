-- purge_keys.sql: deletes up to ?2 expired idempotency keys, oldest first.
DELETE FROM idempotency_key
 WHERE key IN (SELECT key FROM idempotency_key WHERE created_at < ?1 ORDER BY created_at LIMIT ?2);
