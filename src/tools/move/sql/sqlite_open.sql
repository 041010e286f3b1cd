-- sqlite_open.sql: what was written goes from the log into the file every 16 MiB.
PRAGMA wal_autocheckpoint = 4096;
