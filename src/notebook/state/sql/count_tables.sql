-- count_tables.sql: 0 in a new file.
SELECT count(*) FROM sqlite_schema;
