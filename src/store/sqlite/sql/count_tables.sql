-- count_tables.sql: the number of tables; 0 in a new file.
SELECT count(*) FROM sqlite_schema;
