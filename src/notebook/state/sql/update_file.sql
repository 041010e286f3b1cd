-- update_file.sql: replaces all columns but the id; changes no row when another row has the path.
UPDATE OR IGNORE file
SET folder = ?2, path = ?3, inode = ?4, size = ?5, modified_ns = ?6, executable = ?7, hash = ?8, content_type = ?9,
    title = ?10, description = ?11, extra = ?12, updated_at = ?13, event_id = ?14
WHERE notebook = ?1 AND id = ?15;
