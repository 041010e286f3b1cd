-- add_queue.sql: adds a queue. An existing queue is not changed.
INSERT INTO eventq.stored_queue (id, config, status, status_by, status_reason, status_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (id) DO NOTHING;
