-- not_in_line.sql: live events with an ordering_key that have no place in a line.
SELECT 'event ' || q.id || ' has no place in its line ' || b.ordering_key
  FROM event_queue AS q
  JOIN event_body AS b ON b.id = q.id
 WHERE b.ordering_key <> '' AND q.id NOT IN (SELECT id FROM event_line);
