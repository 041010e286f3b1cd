-- delete_recovery.sql: deletes the recovery of a removed queue.
DELETE FROM queue_recovery WHERE queue = ?1;
