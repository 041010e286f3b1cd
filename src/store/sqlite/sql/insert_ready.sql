-- insert_ready.sql: adds one row to the ready index; there is one row per tag.
INSERT INTO event_ready (queue, tag, priority, turn, id)
VALUES (?1, ?2, ?3, ?4, ?5);
