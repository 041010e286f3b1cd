-- expired.sql: ids of events of one status that ended before ?3; leaves out failed events that block a line.
SELECT id
  FROM event_archive
 WHERE queue = ?1 AND status = ?2 AND updated_at < ?3 AND holds_line = 0
 ORDER BY updated_at, id
 LIMIT ?4;
