-- open.sql: settings of every connection; none is left to the library's defaults.
PRAGMA page_size = 4096;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA wal_autocheckpoint = 1000;
PRAGMA journal_size_limit = 16777216;
PRAGMA secure_delete = OFF;
PRAGMA foreign_keys = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -8192;
