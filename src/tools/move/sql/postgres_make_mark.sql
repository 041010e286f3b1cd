-- postgres_make_mark.sql: the position of a move into this store; the table exists only while the move is unfinished.
CREATE TABLE eventq.move (
  source text NOT NULL,
  step   bigint NOT NULL,
  key1   text NOT NULL,
  key2   text NOT NULL,
  key3   text NOT NULL
)
