-- postgres_write.sql: inserts many rows; each parameter is the array of one column.
INSERT INTO eventq.{table} ({columns}{more})
SELECT {columns}{more_values} FROM unnest({values}) AS rows ({columns})
