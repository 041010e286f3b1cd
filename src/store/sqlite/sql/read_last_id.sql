-- read_last_id.sql: the last id assigned to an event or a log entry.
SELECT last FROM id_sequence WHERE name = ?1;
