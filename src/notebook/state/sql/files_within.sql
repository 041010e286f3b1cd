-- files_within.sql: rows in folder ?2 at any depth; '0' is the byte after '/'. ?3 and ?4 as in files.sql.
SELECT id, folder, path, inode, size, modified_ns, executable, hash, content_type, title, description, extra, updated_at,
       event_id, git
FROM file INDEXED BY file_path
WHERE notebook = ?1 AND path > ?2 || '/' AND path < ?2 || '0' AND folder BETWEEN ?3 AND ?4
ORDER BY path;
