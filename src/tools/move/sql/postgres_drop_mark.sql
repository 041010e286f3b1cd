-- postgres_drop_mark.sql: the move is done.
DROP TABLE eventq.move
