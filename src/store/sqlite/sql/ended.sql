-- ended.sql: ids of ended events of one status, ordered by the time of their end. The range starts at ?3, after id
-- ?6 in that millisecond, and ends before ?4.
SELECT updated_at, id
  FROM event_archive
 WHERE queue = ?1 AND status = ?2 AND updated_at >= ?3 AND updated_at < ?4 AND (updated_at > ?3 OR id > ?6)
 ORDER BY updated_at, id
 LIMIT ?5;
