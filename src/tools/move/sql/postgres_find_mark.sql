-- postgres_find_mark.sql: whether a move into this store was begun.
SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'eventq' AND tablename = 'move'
