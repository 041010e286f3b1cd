-- ended.sql: ids of ended events of one status in the order of their ends, from ?3 (of that moment, behind id ?6) to
-- before ?4.
SELECT updated_at, id
  FROM event_archive
 WHERE queue = ?1 AND status = ?2 AND updated_at >= ?3 AND updated_at < ?4 AND (updated_at > ?3 OR id > ?6)
 ORDER BY updated_at, id
 LIMIT ?5;
