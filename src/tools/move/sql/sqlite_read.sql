-- sqlite_read.sql: the next rows of a table. What is in braces is filled in; see table.h.
SELECT {columns} FROM {table} WHERE ({key}) > ({after}) ORDER BY {key} LIMIT {limit};
