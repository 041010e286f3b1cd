-- files.sql: rows after path ?2; ?3 and ?4 bound `folder`: 0 to 0 files, 1 to 1 folders, 0 to 1 all.
SELECT id, folder, path, inode, size, modified_ns, executable, hash, content_type, title, description, extra, updated_at,
       event_id, git
FROM file INDEXED BY file_path
WHERE notebook = ?1 AND path > ?2 AND folder BETWEEN ?3 AND ?4
ORDER BY path
LIMIT ?5;
