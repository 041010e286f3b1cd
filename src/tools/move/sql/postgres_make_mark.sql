-- postgres_make_mark.sql: how far a move into this store is. It goes when that is done.
CREATE TABLE eventq.move (
  source text NOT NULL,
  step   bigint NOT NULL,
  key1   text NOT NULL,
  key2   text NOT NULL,
  key3   text NOT NULL
)
