-- lock_schema.sql: one process migrates at a time. The others wait without a time limit. The lock ends with the
-- connection.
SET lock_timeout = 0;
SELECT pg_advisory_lock(25968, 1);
