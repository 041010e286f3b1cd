-- rollback.sql: undoes the transaction.
ROLLBACK;
