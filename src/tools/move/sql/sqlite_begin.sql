-- sqlite_begin.sql: a chunk is written in one transaction.
BEGIN IMMEDIATE;
