-- read_time.sql: the database's clock, and the version of the queues.
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, version FROM eventq.queue_news
