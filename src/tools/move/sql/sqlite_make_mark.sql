-- sqlite_make_mark.sql: how far a move into this store is. It goes when that is done.
CREATE TABLE move (
  source TEXT NOT NULL,
  step   INTEGER NOT NULL,
  key1   TEXT NOT NULL,
  key2   TEXT NOT NULL,
  key3   TEXT NOT NULL
) STRICT;
