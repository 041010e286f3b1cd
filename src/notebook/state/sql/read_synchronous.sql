-- read_synchronous.sql: must be 2, which is FULL.
PRAGMA synchronous;
