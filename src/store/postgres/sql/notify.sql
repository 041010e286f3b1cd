-- notify.sql: a hint to all servers on this database. $1: the hint.
SELECT pg_notify('eventq', $1)
