-- delete_checkpoints.sql: deletes the checkpoints of a removed queue.
DELETE FROM stored_checkpoint WHERE queue_id = ?1;
