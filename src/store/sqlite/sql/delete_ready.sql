-- delete_ready.sql: deletes one row of the ready index; there is one row per tag.
DELETE FROM event_ready
 WHERE queue = ?1 AND tag = ?2 AND priority = ?3 AND turn = ?4;
