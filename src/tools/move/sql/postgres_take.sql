-- postgres_take.sql: keeps every server and application out until the connection ends. 1: done; 0: one is in.
SELECT CASE WHEN pg_try_advisory_lock(25968, 0) THEN 1 ELSE 0 END::bigint
