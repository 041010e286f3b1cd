-- postgres_count.sql: how many rows a table has.
SELECT count(*) FROM {source}
