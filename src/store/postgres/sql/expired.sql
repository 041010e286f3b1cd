-- expired.sql: ended events of a queue and status, the first to end first. Events that hold up a line are left out.
SELECT id
  FROM eventq.event_archive
 WHERE queue = $1 AND status = $2 AND updated_at < $3 AND holds_line = 0
 ORDER BY updated_at, id
 LIMIT $4;
