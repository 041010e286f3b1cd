-- in_work_is_head.sql: processing events behind the head of their line.
SELECT 'in work, and not at the head of its line: ' || q.id
  FROM event_queue AS q
  JOIN event_line AS l ON l.id = q.id
 WHERE q.status = 'PROCESSING' AND l.head <> 1;
