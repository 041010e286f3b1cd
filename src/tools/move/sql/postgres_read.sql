-- postgres_read.sql: the next rows of a table. fill() replaces the names in braces; see table.h.
SELECT {columns} FROM {source} WHERE ({key}) > ({after}) ORDER BY {key} LIMIT {limit}
