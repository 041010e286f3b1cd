-- files_hash.sql: files with content ?2 and an inode from ?3 to ?4.
SELECT id, folder, path, inode, size, modified_ns, executable, hash, content_type, title, description, extra, updated_at,
       event_id, git
FROM file INDEXED BY file_hash
WHERE notebook = ?1 AND hash = ?2 AND inode BETWEEN ?3 AND ?4
LIMIT ?5;
