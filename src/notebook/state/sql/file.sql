-- file.sql: one file or folder by id.
SELECT id, folder, path, inode, size, modified_ns, executable, hash, content_type, title, description, extra, updated_at,
       event_id, git
FROM file
WHERE id = ?2 AND notebook = ?1;
