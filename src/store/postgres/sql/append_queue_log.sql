-- append_queue_log.sql: appends an entry to the log of a queue.
INSERT INTO eventq.queue_log (queue, id, action, author, reason, detail, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (queue, id) DO UPDATE
   SET action = excluded.action, author = excluded.author, reason = excluded.reason, detail = excluded.detail,
       created_at = excluded.created_at;
