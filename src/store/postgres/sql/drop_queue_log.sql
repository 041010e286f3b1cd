-- drop_queue_log.sql: deletes all but the newest $2 entries of a queue's log.
DELETE FROM eventq.queue_log
 WHERE queue = $1
   AND id <= (SELECT id FROM eventq.queue_log WHERE queue = $1 ORDER BY queue DESC, id DESC LIMIT 1 OFFSET $2);
