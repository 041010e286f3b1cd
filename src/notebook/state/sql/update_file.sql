-- update_file.sql: all of it but its id; nothing when its path is taken by another.
UPDATE OR IGNORE file
SET folder = ?2, path = ?3, inode = ?4, size = ?5, modified_ns = ?6, executable = ?7, hash = ?8, content_type = ?9,
    title = ?10, description = ?11, extra = ?12, updated_at = ?13, event_id = ?14
WHERE notebook = ?1 AND id = ?15;
