-- read_live_counts.sql: the counters of live events.
SELECT queue, status, n FROM event_count WHERE status IN ('PENDING', 'PROCESSING');
