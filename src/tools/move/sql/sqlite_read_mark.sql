-- sqlite_read_mark.sql: the source and the position of an unfinished move.
SELECT source, step, key1, key2, key3 FROM move;
