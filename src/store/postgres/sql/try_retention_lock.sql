-- try_retention_lock.sql: tries to take the lock for removing old events, which one session holds at a time. Also
-- returns the database's clock.
SELECT pg_try_advisory_lock(25970, 0)::int::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
