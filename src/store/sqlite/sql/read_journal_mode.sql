-- read_journal_mode.sql: read back what open_writer.sql asked for.
PRAGMA journal_mode;
