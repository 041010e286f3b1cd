-- begin_read.sql: what follows sees one moment.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
