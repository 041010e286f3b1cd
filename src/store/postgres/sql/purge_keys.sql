-- purge_keys.sql: deletes some of the expired keys. Skips keys that another transaction is replacing.
DELETE FROM eventq.idempotency_key
 WHERE key = ANY (ARRAY (SELECT key FROM eventq.idempotency_key
                          WHERE created_at < $1
                          ORDER BY created_at
                          LIMIT $2
                            FOR UPDATE SKIP LOCKED))
RETURNING key;
