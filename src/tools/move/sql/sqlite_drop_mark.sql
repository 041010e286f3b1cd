-- sqlite_drop_mark.sql: the move is complete.
DROP TABLE move;
