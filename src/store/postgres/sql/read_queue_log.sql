-- read_queue_log.sql: up to $3 entries of a queue's log with an id below $2, the newest first.
SELECT id, queue, action, author, reason, detail, created_at
  FROM eventq.queue_log
 WHERE queue = $1 AND id < $2
 ORDER BY queue DESC, id DESC
 LIMIT $3;
