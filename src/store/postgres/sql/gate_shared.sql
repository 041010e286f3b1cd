-- gate_shared.sql: no other transaction runs alone now.
SELECT pg_advisory_xact_lock_shared(25968, 0)
