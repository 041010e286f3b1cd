-- holding_line.sql: failed events of a queue that block their line.
SELECT id FROM event_archive WHERE queue = ?1 AND holds_line = 1 LIMIT ?2;
