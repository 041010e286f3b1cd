-- lock_schema.sql: one migrates at a time; the others wait, however long it takes. Until the connection ends.
SET lock_timeout = 0;
SELECT pg_advisory_lock(25968, 1);
