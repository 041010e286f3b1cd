-- sqlite_begin.sql: a chunk is all or nothing.
BEGIN IMMEDIATE;
