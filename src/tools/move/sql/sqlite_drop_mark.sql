-- sqlite_drop_mark.sql: the move is done.
DROP TABLE move;
