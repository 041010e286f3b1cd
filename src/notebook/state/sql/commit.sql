-- commit.sql: returns after the fsync that covers the transaction (synchronous = FULL).
COMMIT;
