-- gone_hash.sql: the files with content ?2 that were deleted after ?3, the last one first.
SELECT id, 0, path, inode, size, modified_ns, executable, hash, content_type, title, description, extra, updated_at,
       event_id, ''
FROM gone INDEXED BY gone_hash
WHERE notebook = ?1 AND hash = ?2 AND gone_at > ?3
ORDER BY gone_at DESC
LIMIT ?4;
