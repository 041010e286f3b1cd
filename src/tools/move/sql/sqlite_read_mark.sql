-- sqlite_read_mark.sql: where to go on.
SELECT source, step, key1, key2, key3 FROM move;
