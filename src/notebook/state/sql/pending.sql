-- pending.sql: what waits for a commit, in order.
SELECT number, path, event_id, correlation_id, since
FROM pending INDEXED BY pending_number
WHERE notebook = ?1
ORDER BY number;
