-- waiting.sql: how many paths wait for a commit, and since when.
SELECT count(*), min(since)
FROM (SELECT min(since) AS since FROM pending INDEXED BY pending_path WHERE notebook = ?1 GROUP BY path);
