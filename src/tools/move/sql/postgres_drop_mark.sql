-- postgres_drop_mark.sql: the move is complete.
DROP TABLE eventq.move
