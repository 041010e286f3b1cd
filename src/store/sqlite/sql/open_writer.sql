-- open_writer.sql: settings of the one connection that writes and checkpoints.
--
-- Every setting is explicit, because the defaults differ between builds. Checkpoints run in tidy(), after the
-- answers are sent, never inside a commit.
PRAGMA busy_timeout = 5000;
PRAGMA page_size = 4096;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA wal_autocheckpoint = 0;
PRAGMA journal_size_limit = 67108864;
PRAGMA secure_delete = OFF;
PRAGMA foreign_keys = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -65536;
