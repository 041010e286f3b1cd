-- rollback.sql: discards the transaction.
ROLLBACK;
