-- append_author.sql: stores the person that caused a log entry.
INSERT INTO event_log_author (event_id, id, author) VALUES (?1, ?2, ?3);
