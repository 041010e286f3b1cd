-- try_retention_lock.sql: the right to remove old events, which one session has at a time, and the database's clock.
SELECT pg_try_advisory_lock(25970, 0)::int::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
