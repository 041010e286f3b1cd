-- drop_reserved.sql: the file with id ?2 exists, or will never exist.
DELETE FROM reserved_file WHERE notebook = ?1 AND id = ?2;
