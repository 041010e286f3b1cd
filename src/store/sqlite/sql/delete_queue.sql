-- delete_queue.sql: deletes the row of a removed queue.
DELETE FROM stored_queue WHERE id = ?1;
