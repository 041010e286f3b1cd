-- counts.sql: numbers of files and folders, and the sum of sizes.
SELECT count(*) FILTER (WHERE folder = 0), count(*) FILTER (WHERE folder = 1), coalesce(sum(size), 0)
FROM file INDEXED BY file_size
WHERE notebook = ?1;
