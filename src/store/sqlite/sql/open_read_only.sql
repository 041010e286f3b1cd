-- open_read_only.sql: settings of a connection that reads a whole file once. Sorts use temporary files, because
-- the file may be larger than memory.
PRAGMA query_only = ON;
PRAGMA wal_autocheckpoint = 0;
PRAGMA temp_store = FILE;
PRAGMA cache_size = -65536;
PRAGMA busy_timeout = 5000;
