-- drop_workers.sql: deletes workers that were not seen since $1.
DELETE FROM eventq.worker WHERE last_seen < $1;
