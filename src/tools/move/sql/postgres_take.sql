-- postgres_take.sql: takes the lock that keeps servers and applications out until the connection ends.
-- 1: taken; 0: in use.
SELECT CASE WHEN pg_try_advisory_lock(25968, 0) THEN 1 ELSE 0 END::bigint
