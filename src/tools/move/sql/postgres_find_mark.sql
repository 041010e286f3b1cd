-- postgres_find_mark.sql: 1 when an unfinished move into this store exists, else 0.
SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'eventq' AND tablename = 'move'
