-- commit.sql: all of the transaction, or nothing.
COMMIT
