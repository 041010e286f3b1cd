-- read_live_counts.sql: what the counters say of live events.
SELECT queue, status, n FROM event_count WHERE status IN ('PENDING', 'PROCESSING');
