-- add_news.sql: a queue is new or was changed; other servers see it with their next transaction.
UPDATE eventq.queue_news SET version = version + 1 WHERE one;
