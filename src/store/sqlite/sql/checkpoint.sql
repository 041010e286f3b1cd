-- checkpoint.sql: copies the write-ahead log into the file, as far as open snapshots allow.
PRAGMA wal_checkpoint(PASSIVE);
