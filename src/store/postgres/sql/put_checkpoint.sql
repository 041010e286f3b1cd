-- put_checkpoint.sql: inserts a checkpoint of a queue.
INSERT INTO eventq.queue_checkpoints (id, queue_id, checkpoint_id, event_count, created_at)
VALUES ($1, $2, $3, $4, $5);
