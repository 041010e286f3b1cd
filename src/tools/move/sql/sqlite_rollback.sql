-- sqlite_rollback.sql: undoes a chunk.
ROLLBACK;
