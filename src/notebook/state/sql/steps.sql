-- steps.sql: the journal in order.
SELECT kind, from_path, to_path, inode, size, modified_ns, executable
FROM step
WHERE notebook = ?1
ORDER BY number;
