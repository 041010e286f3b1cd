-- drop_workers.sql: those not seen since $1.
DELETE FROM eventq.worker WHERE last_seen < $1;
