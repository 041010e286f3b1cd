-- sqlite_begin_mark.sql: a move from ?1 begins.
INSERT INTO move (source, step, key1, key2, key3) VALUES (?1, 0, '', '', '');
