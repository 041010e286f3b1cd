-- in_line.sql: places in a line whose event does not exist, has another line, or has ended without blocking it.
SELECT 'event ' || l.id || ' has a place in line ' || l.ordering_key || ', but does not belong there'
  FROM event_line AS l
  LEFT JOIN event_body AS b
         ON b.id = l.id AND b.queue = l.queue AND b.ordering_key = l.ordering_key
 WHERE b.id IS NULL
    OR (l.id NOT IN (SELECT id FROM event_queue)
        AND l.id NOT IN (SELECT id FROM event_archive WHERE holds_line = 1));
