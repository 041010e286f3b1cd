-- insert_archive.sql: the last state of an event that has ended.
INSERT INTO event_archive (id, status, attempts, retry_count, unreported, worker_id, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);
