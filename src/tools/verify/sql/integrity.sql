-- integrity.sql: the faults that SQLite's own check finds in the file.
SELECT 'integrity: ' || integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok';
