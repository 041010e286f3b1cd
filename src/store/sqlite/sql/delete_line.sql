-- delete_line.sql: deletes the place of an event in its line.
DELETE FROM event_line
 WHERE queue = ?1 AND ordering_key = ?2 AND head = ?3 AND id = ?4;
