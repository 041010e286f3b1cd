-- waiting.sql: the number of paths with pending changes, and the time of the oldest change.
SELECT count(*), min(since)
FROM (SELECT min(since) AS since FROM pending INDEXED BY pending_path WHERE notebook = ?1 GROUP BY path);
