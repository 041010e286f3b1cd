-- delete_line.sql: an event leaves its place.
DELETE FROM event_line
 WHERE queue = ?1 AND ordering_key = ?2 AND head = ?3 AND id = ?4;
