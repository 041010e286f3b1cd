-- set_imported.sql: the files that the notebook began with are recorded.
UPDATE notebook SET imported = 1 WHERE id = ?1;
