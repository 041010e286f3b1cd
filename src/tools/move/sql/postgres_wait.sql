-- postgres_wait.sql: a moment, in which PostgreSQL notices the end of a connection.
SELECT pg_sleep(0.05)
