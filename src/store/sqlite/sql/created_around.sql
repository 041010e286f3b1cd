-- created_around.sql: searches the ids below ?2 for the time ?1, by halves. Returns an id whose event was created before
-- it, or 0, and the id that follows: the event there, or the next one, was created at that time or later. Each step reads
-- one event, so at most 53 are read.
WITH RECURSIVE search (low, high) AS (
  SELECT 0, ?2
   UNION ALL
  SELECT CASE WHEN b.created_at < ?1 THEN b.id ELSE low END, CASE WHEN b.created_at < ?1 THEN high ELSE (low + high) / 2 END
    FROM search
    LEFT JOIN event_body AS b
           ON b.id = (SELECT m.id FROM event_body AS m
                       WHERE m.id >= (low + high) / 2 AND m.id < high
                       ORDER BY m.id
                       LIMIT 1)
   WHERE high - low > 1
)
SELECT max(low), min(high) FROM search;
