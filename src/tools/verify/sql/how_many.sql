-- how_many.sql: the number of events by the counters; used for progress only.
SELECT coalesce(sum(n), 0) FROM event_count;
