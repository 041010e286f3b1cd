-- sqlite_commit.sql: the end of a chunk.
COMMIT;
