-- insert_file.sql: inserts a file or folder, with a new id if ?15 is 0; changes no row when its path is in use.
INSERT INTO file (notebook, folder, path, inode, size, modified_ns, executable, hash, content_type, title, description,
                  extra, updated_at, event_id, id)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, nullif(?15, 0))
ON CONFLICT (notebook, path) DO NOTHING;
