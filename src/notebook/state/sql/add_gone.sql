-- add_gone.sql: keeps the row of a file that is about to be removed; changes nothing for a folder.
INSERT INTO gone (id, notebook, path, inode, size, modified_ns, executable, hash, content_type, title, description, extra,
                  updated_at, event_id, gone_at)
SELECT id, notebook, path, inode, size, modified_ns, executable, hash, content_type, title, description, extra, updated_at,
       event_id, ?3
FROM file
WHERE notebook = ?1 AND id = ?2 AND folder = 0;
