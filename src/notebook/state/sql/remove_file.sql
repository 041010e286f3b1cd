-- remove_file.sql: by its id.
DELETE FROM file WHERE notebook = ?1 AND id = ?2;
