-- open_read_only.sql: a connection that reads all of a file once, and sorts on disk.
PRAGMA query_only = ON;
PRAGMA wal_autocheckpoint = 0;
PRAGMA temp_store = FILE;
PRAGMA cache_size = -65536;
PRAGMA busy_timeout = 5000;
