-- 0003_removed.sql: how many events retention has removed, so that none can be missing unnoticed.
--
-- Whatever was published and is not there was removed before this was counted.

ALTER TABLE queue_total ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;

UPDATE queue_total
   SET removed = max(0, published - (SELECT count(*) FROM event_queue WHERE queue = queue_total.queue)
                                  - (SELECT count(*) FROM event_archive WHERE queue = queue_total.queue));
