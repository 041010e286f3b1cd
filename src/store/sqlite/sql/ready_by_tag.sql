-- ready_by_tag.sql: the first ready events of one tag, in claim order. One index seek, so the cost does not grow with
-- the backlog.
SELECT priority, turn, id
  FROM event_ready
 WHERE queue = ?1 AND tag = ?2
 ORDER BY priority DESC, turn
 LIMIT ?3;
