-- find_checkpoint.sql: a checkpoint by its id.
SELECT id, queue_id, checkpoint_id, event_count, created_at, requested FROM eventq.stored_checkpoint WHERE id = $1;
