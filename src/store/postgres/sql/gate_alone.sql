-- gate_alone.sql: no other transaction runs now.
SELECT pg_advisory_xact_lock(25968, 0)
