-- delete_supersede.sql: deletes the key of an event that is no longer pending.
DELETE FROM event_supersede
 WHERE queue = ?1 AND supersede_key = ?2 AND id = ?3;
