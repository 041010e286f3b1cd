-- files_in.sql: rows between paths ?2 and ?3; ?4 and ?5 as in files.sql; ?6: 1 at any depth, 0 directly behind ?7.
SELECT id, folder, path, inode, size, modified_ns, executable, hash, content_type, title, description, extra, updated_at,
       event_id, git
FROM file INDEXED BY file_path
WHERE notebook = ?1 AND path > ?2 AND path < ?3 AND folder BETWEEN ?4 AND ?5
  AND (?6 = 1 OR instr(substr(path, length(?7) + 1), '/') = 0)
ORDER BY path
LIMIT ?8;
