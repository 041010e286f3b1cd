-- put_checkpoint.sql: adds a checkpoint of a queue.
INSERT INTO stored_checkpoint (id, queue_id, checkpoint_id, event_count, created_at, requested)
VALUES (?1, ?2, ?3, ?4, ?5, ?6);
