-- sqlite_find_mark.sql: 1 when an unfinished move into this store exists, else 0.
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'move';
