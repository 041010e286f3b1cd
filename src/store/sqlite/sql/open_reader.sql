-- open_reader.sql: settings of a connection that only reads and never checkpoints.
PRAGMA query_only = ON;
PRAGMA wal_autocheckpoint = 0;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -16384;
PRAGMA busy_timeout = 5000;
