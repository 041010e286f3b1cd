-- postgres_summed.sql: a table of counters without its slots.
(SELECT {key}, {sums} FROM eventq.{table} GROUP BY {key}{having}) AS summed
