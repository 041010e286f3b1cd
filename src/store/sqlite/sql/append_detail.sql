-- append_detail.sql: stores the detail of a failure.
INSERT INTO event_log_detail (event_id, id, detail) VALUES (?1, ?2, ?3);
