-- update_live.sql: change a live event, if its row still says what the decision was made on.
--
-- ?12 to ?14 are the guard. With one writer it cannot fail but by a mistake of ours.
UPDATE event_queue
   SET status = ?2, attempts = ?3, retry_count = ?4, unreported = ?5, worker_id = ?6, due_at = ?7,
       ready = ?8, updated_at = ?9, turn = ?10, picked_at = ?11
 WHERE id = ?1 AND status = ?12 AND attempts = ?13 AND worker_id = ?14;
