-- head_is_first.sql: pending heads with an older event behind them. A processing head may have one, because a reset
-- can put an older event behind it.
SELECT 'event ' || q.id || ' is the pending head of its line, but an older event is behind it'
  FROM event_queue AS q
  JOIN event_line AS l ON l.id = q.id
 WHERE q.status = 'PENDING' AND l.head = 1
   AND EXISTS (SELECT 1 FROM event_line AS o
                WHERE o.queue = l.queue AND o.ordering_key = l.ordering_key AND o.id < l.id);
