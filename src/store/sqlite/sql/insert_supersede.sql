-- insert_supersede.sql: adds a pending event with a supersede_key.
INSERT INTO event_supersede (queue, supersede_key, id)
VALUES (?1, ?2, ?3);
