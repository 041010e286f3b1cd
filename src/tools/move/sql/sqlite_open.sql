-- sqlite_open.sql: checkpoints the write-ahead log every 4096 pages (16 MiB), so that it stays small during a move.
PRAGMA wal_autocheckpoint = 4096;
