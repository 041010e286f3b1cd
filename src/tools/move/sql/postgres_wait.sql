-- postgres_wait.sql: waits 50 ms for PostgreSQL to drop a closed connection.
SELECT pg_sleep(0.05)
