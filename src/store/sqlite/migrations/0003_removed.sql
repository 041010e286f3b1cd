-- 0003_removed.sql: counts the events that retention removed, so that an audit detects a missing event; and orders
-- checkpoints of one millisecond by their event count.
--
-- Published events that are missing at this step were removed before removals were counted.

ALTER TABLE queue_total ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;

UPDATE queue_total
   SET removed = max(0, published - (SELECT count(*) FROM event_queue WHERE queue = queue_total.queue)
                                  - (SELECT count(*) FROM event_archive WHERE queue = queue_total.queue));

DROP INDEX queue_checkpoints_queue_id_idx;
CREATE INDEX queue_checkpoints_queue_id_idx ON queue_checkpoints (queue_id, created_at, event_count, id);
