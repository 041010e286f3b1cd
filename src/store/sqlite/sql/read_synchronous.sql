-- read_synchronous.sql: read back what open_writer.sql asked for; 2 is FULL.
PRAGMA synchronous;
