-- delete_counts.sql: deletes the counters of a removed queue.
DELETE FROM event_count WHERE queue = ?1;
