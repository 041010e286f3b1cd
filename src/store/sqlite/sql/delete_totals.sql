-- delete_totals.sql: deletes the totals of a removed queue.
DELETE FROM queue_total WHERE queue = ?1;
