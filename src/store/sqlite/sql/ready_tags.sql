-- ready_tags.sql: the tags of the first ready events with one tag, in claim order.
SELECT b.tags
  FROM event_ready AS r
  JOIN event_body AS b ON b.id = r.id
 WHERE r.queue = ?1 AND r.tag = ?2
 ORDER BY r.priority DESC, r.turn
 LIMIT ?3;
