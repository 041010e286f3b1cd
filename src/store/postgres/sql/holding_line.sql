-- holding_line.sql: failed events of a queue that hold up their lines.
SELECT id FROM eventq.event_archive WHERE queue = $1 AND holds_line = 1 LIMIT $2
