-- pending.sql: pending changes in the order they were made.
SELECT number, path, event_id, correlation_id, since
FROM pending INDEXED BY pending_number
WHERE notebook = ?1
ORDER BY number;
