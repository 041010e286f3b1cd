-- file_at.sql: one file or folder by path.
SELECT id, folder, path, inode, size, modified_ns, executable, hash, content_type, title, description, extra, updated_at,
       event_id, git
FROM file
WHERE notebook = ?1 AND path = ?2;
