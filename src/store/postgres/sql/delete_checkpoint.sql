-- delete_checkpoint.sql: deletes a checkpoint by its id.
DELETE FROM eventq.stored_checkpoint WHERE id = $1;
