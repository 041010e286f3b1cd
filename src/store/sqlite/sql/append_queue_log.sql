-- append_queue_log.sql: appends an entry to the log of a queue.
INSERT OR REPLACE INTO queue_log (queue, id, action, author, reason, detail, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);
