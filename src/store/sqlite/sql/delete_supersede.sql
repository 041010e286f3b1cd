-- delete_supersede.sql: it is pending no longer.
DELETE FROM event_supersede
 WHERE queue = ?1 AND supersede_key = ?2 AND id = ?3;
