-- in_work_is_head.sql: processing events behind the head of their line.
SELECT 'event ' || q.id || ' is processing, but is not the head of its line'
  FROM event_queue AS q
  JOIN event_line AS l ON l.id = q.id
 WHERE q.status = 'PROCESSING' AND l.head <> 1;
