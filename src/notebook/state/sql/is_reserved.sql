-- is_reserved.sql: one row when id ?2 was promised and no file has got it.
SELECT 1 FROM reserved_file WHERE notebook = ?1 AND id = ?2;
