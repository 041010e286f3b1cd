-- find_move.sql: whether a move into this file was begun and not finished.
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'move';
