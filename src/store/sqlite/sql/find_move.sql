-- find_move.sql: 1 when an unfinished move into this file exists, else 0.
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'move';
