-- sqlite_rollback.sql: gives a chunk up.
ROLLBACK;
