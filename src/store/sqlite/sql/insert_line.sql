-- insert_line.sql: adds an event to the line of its ordering_key.
INSERT INTO event_line (queue, ordering_key, head, id)
VALUES (?1, ?2, ?3, ?4);
