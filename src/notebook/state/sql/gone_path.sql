-- gone_path.sql: the file that was deleted last at path ?2, not before ?3.
SELECT id, 0, path, inode, size, modified_ns, executable, hash, content_type, title, description, extra, updated_at,
       event_id, ''
FROM gone INDEXED BY gone_path
WHERE notebook = ?1 AND path = ?2 AND gone_at > ?3
ORDER BY gone_at DESC
LIMIT 1;
