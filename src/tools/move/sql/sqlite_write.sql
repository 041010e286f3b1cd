-- sqlite_write.sql: one row.
INSERT INTO {table} ({columns}) VALUES ({values});
