-- how_many_removed.sql: the number of events that retention removed, by the counters.
SELECT coalesce(sum(removed), 0) FROM queue_total;
