-- delete_archive.sql: an ended event is live again. ?2 to ?4 are the guard, as in update_live.sql.
DELETE FROM event_archive
 WHERE id = ?1 AND status = ?2 AND attempts = ?3 AND worker_id = ?4;
