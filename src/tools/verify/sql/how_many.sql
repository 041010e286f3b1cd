-- how_many.sql: how many events there are, by the counters.
SELECT coalesce(sum(n), 0) FROM event_count;
