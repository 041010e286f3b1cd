-- postgres_summed.sql: a table of counters, summed over its slots.
(SELECT {key}, {sums} FROM eventq.{table} GROUP BY {key}{having}) AS summed
