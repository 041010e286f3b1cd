-- drop_asks.sql: deletes requests of workers from before $1.
DELETE FROM eventq.worker_ask WHERE asked_at < $1;
