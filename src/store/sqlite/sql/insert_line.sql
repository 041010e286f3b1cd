-- insert_line.sql: an event takes its place among those with its ordering_key.
INSERT INTO event_line (queue, ordering_key, head, id)
VALUES (?1, ?2, ?3, ?4);
