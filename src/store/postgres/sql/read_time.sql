-- read_time.sql: the database's clock, and whether queues were changed.
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, version FROM eventq.queue_news
