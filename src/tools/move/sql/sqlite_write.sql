-- sqlite_write.sql: inserts one row.
INSERT INTO {table} ({columns}) VALUES ({values});
