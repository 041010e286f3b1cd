-- holds_line.sql: ended events marked as blocking a line that have not failed, or are not the head of a line.
SELECT 'event ' || a.id || ' is marked as blocking its line, but is ' || a.status || ' or not the head of a line'
  FROM event_archive AS a
 WHERE a.holds_line = 1
   AND (a.status <> 'FAILED' OR a.id NOT IN (SELECT id FROM event_line WHERE head = 1));
