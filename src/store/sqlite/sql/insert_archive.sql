-- insert_archive.sql: the last state of an ended event.
INSERT INTO event_archive (id, status, attempts, retry_count, unreported, worker_id, updated_at, picked_at, queue,
                           holds_line, superseded_by, cause)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12);
