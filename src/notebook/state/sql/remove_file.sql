-- remove_file.sql: deletes a file or folder by id.
DELETE FROM file WHERE notebook = ?1 AND id = ?2;
