-- update_live.sql: changes a live event if its row still matches the guard.
--
-- ?12 to ?14 are the guard. With one writer it fails only by a bug in eventq.
UPDATE event_queue
   SET status = ?2, attempts = ?3, retry_count = ?4, unreported = ?5, worker_id = ?6, due_at = ?7,
       ready = ?8, updated_at = ?9, turn = ?10, picked_at = ?11
 WHERE id = ?1 AND status = ?12 AND attempts = ?13 AND worker_id = ?14;
