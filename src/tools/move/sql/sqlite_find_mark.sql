-- sqlite_find_mark.sql: whether a move into this store was begun.
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'move';
