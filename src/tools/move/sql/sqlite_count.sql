-- sqlite_count.sql: how many rows a table has.
SELECT count(*) FROM {table};
