-- ready_by_tag.sql: the next events of one tag, in claim order. One seek, whatever the backlog.
SELECT priority, turn, id
  FROM event_ready
 WHERE queue = ?1 AND tag = ?2
 ORDER BY priority DESC, turn
 LIMIT ?3;
