-- gate_shared.sql: waits until no transaction holds the gate alone. Others can share it.
SELECT pg_advisory_xact_lock_shared(25968, 0)
