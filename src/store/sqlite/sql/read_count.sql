-- read_count.sql: how many events, from the counters; a null filter matches all.
SELECT coalesce(sum(n), 0)
  FROM event_count
 WHERE (?1 IS NULL OR queue = ?1) AND (?2 IS NULL OR status = ?2);
