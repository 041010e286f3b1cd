-- delete_archive.sql: deletes the archive row of an event that is live again or removed.
-- ?2 to ?4 are the guard, as in update_live.sql.
DELETE FROM event_archive
 WHERE id = ?1 AND status = ?2 AND attempts = ?3 AND worker_id = ?4;
