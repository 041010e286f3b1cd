-- checkpoint.sql: copy the write-ahead log into the file, as far as readers allow.
PRAGMA wal_checkpoint(PASSIVE);
