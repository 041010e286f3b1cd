-- gate_alone.sql: waits until no other transaction runs. Others cannot begin until this one ends.
SELECT pg_advisory_xact_lock(25968, 0)
