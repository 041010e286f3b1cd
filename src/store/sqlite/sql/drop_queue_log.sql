-- drop_queue_log.sql: deletes all but the newest ?2 entries of a queue's log.
DELETE FROM queue_log
 WHERE queue = ?1 AND id <= (SELECT id FROM queue_log WHERE queue = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2);
