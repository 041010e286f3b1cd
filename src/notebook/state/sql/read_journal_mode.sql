-- read_journal_mode.sql: must be wal.
PRAGMA journal_mode;
