-- raise_queues_version.sql: increases the version of the queues, so that other servers reload them in their next transaction.
UPDATE eventq.queue_news SET version = version + 1 WHERE one;
