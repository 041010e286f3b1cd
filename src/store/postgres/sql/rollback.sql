-- rollback.sql: nothing happened.
ROLLBACK
