-- find_move.sql: whether a move into this database was started and not finished.
SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'eventq' AND tablename = 'move'
