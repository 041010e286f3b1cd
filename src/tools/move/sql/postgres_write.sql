-- postgres_write.sql: many rows; each parameter is a column of them.
INSERT INTO eventq.{table} ({columns}{more})
SELECT {columns}{more_values} FROM unnest({values}) AS rows ({columns})
