-- read_journal_mode.sql: reads back the setting of open_writer.sql.
PRAGMA journal_mode;
