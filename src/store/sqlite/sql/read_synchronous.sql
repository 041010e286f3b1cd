-- read_synchronous.sql: reads back the setting of open_writer.sql; 2 is FULL.
PRAGMA synchronous;
