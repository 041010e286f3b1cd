-- sqlite_make_mark.sql: the position of a move into this store; the table exists only while the move is unfinished.
CREATE TABLE move (
  source TEXT NOT NULL,
  step   INTEGER NOT NULL,
  key1   TEXT NOT NULL,
  key2   TEXT NOT NULL,
  key3   TEXT NOT NULL
) STRICT;
