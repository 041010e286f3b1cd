-- delete_live.sql: deletes the live row of an event that has ended. ?2 to ?4 are the guard, as in update_live.sql.
DELETE FROM event_queue
 WHERE id = ?1 AND status = ?2 AND attempts = ?3 AND worker_id = ?4;
