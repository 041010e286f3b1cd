-- drop_workers.sql: deletes workers whose last_seen is before ?1.
DELETE FROM worker WHERE last_seen < ?1;
