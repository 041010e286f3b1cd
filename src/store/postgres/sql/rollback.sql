-- rollback.sql: undo everything since BEGIN.
ROLLBACK
