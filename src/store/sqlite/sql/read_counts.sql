-- read_counts.sql: how many events of a queue are in each status.
SELECT status, n FROM event_count WHERE queue = ?1;
