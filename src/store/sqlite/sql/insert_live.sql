-- insert_live.sql: the state of a new or revived event.
INSERT INTO event_queue (id, status, attempts, retry_count, unreported, worker_id, due_at, ready, updated_at, turn,
                         picked_at, queue)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12);
