-- integrity.sql: what SQLite itself finds wrong with the file.
SELECT 'integrity: ' || integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok';
