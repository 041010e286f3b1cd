-- 0003_removed.sql: how many events retention has removed, so that none can be missing unnoticed; and
-- checkpoints of one millisecond in the order of what they saw.
--
-- Whatever was published and is not there was removed before this was counted.

ALTER TABLE queue_total ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;

UPDATE queue_total
   SET removed = max(0, published - (SELECT count(*) FROM event_queue WHERE queue = queue_total.queue)
                                  - (SELECT count(*) FROM event_archive WHERE queue = queue_total.queue));

DROP INDEX queue_checkpoints_queue_id_idx;
CREATE INDEX queue_checkpoints_queue_id_idx ON queue_checkpoints (queue_id, created_at, event_count, id);
