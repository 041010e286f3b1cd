-- holds_line.sql: ended events that hold up a line without having failed, or without standing in it.
SELECT 'holds a line, and is ' || a.status || ' or in none: ' || a.id
  FROM event_archive AS a
 WHERE a.holds_line = 1
   AND (a.status <> 'FAILED' OR a.id NOT IN (SELECT id FROM event_line WHERE head = 1));
