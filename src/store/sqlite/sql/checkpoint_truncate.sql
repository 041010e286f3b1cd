-- checkpoint_truncate.sql: waits for readers, copies the whole write-ahead log into the file, and empties the log.
PRAGMA wal_checkpoint(TRUNCATE);
