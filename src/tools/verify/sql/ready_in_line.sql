-- ready_in_line.sql: events whose `ready` column disagrees with their place in a line.
SELECT 'event ' || q.id || ' has ready ' || q.ready || ', but is '
        || CASE l.head WHEN 0 THEN 'behind another' WHEN 1 THEN 'at the head' ELSE 'in no line' END
  FROM event_queue AS q
  JOIN event_body AS b ON b.id = q.id
  LEFT JOIN event_line AS l
         ON l.queue = b.queue AND l.ordering_key = b.ordering_key AND l.head IN (0, 1) AND l.id = q.id
 WHERE (q.ready = 2) <> (l.head IS 0);
