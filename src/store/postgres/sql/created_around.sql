-- created_around.sql: searches the ids below $2 for the time $1, by halves. Returns an id whose event was created before
-- it, or 0, and the id that follows: the event there, or the next one, was created at that time or later. Each step reads
-- one event, so at most 53 are read.
WITH RECURSIVE search (low, high) AS (
  SELECT 0::bigint, $2::bigint
   UNION ALL
  SELECT coalesce(e.id, s.low), CASE WHEN e.id IS NULL THEN (s.low + s.high) / 2 ELSE s.high END
    FROM search AS s
    LEFT JOIN LATERAL (SELECT CASE WHEN f.created_at < $1 THEN f.id END AS id
                         FROM (SELECT b.id, b.created_at
                                 FROM eventq.event_body AS b
                                WHERE b.id >= (s.low + s.high) / 2 AND b.id < s.high
                                ORDER BY b.id
                                LIMIT 1) AS f) AS e ON true
   WHERE s.high - s.low > 1
)
SELECT max(low), min(high) FROM search;
