-- purge_keys.sql: drop some of the keys that are too old to count.
DELETE FROM idempotency_key
 WHERE key IN (SELECT key FROM idempotency_key WHERE created_at < ?1 ORDER BY created_at LIMIT ?2);
