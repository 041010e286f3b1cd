-- rollback.sql: forget what the transaction wrote.
ROLLBACK;
