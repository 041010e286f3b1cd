-- checkpoint_truncate.sql: the same, waiting for readers, and empty the log.
PRAGMA wal_checkpoint(TRUNCATE);
