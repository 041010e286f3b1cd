-- first_in_line.sql: the head of a line (?3 = 1), or the first event behind it (?3 = 0).
SELECT id
  FROM event_line
 WHERE queue = ?1 AND ordering_key = ?2 AND head = ?3
 ORDER BY id
 LIMIT 1;
