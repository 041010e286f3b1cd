-- oldest_pending.sql: when the oldest pending event of a queue was published.
SELECT b.created_at
  FROM (SELECT id FROM eventq.event_queue WHERE queue = $1 AND status = 'PENDING' ORDER BY id LIMIT 1) AS s
  JOIN eventq.event_body AS b ON b.id = s.id;
