-- holds_line.sql: ended events marked as blocking a line that have not failed, or are not the head of a line.
SELECT 'holds a line, and is ' || a.status || ' or in none: ' || a.id
  FROM event_archive AS a
 WHERE a.holds_line = 1
   AND (a.status <> 'FAILED' OR a.id NOT IN (SELECT id FROM event_line WHERE head = 1));
