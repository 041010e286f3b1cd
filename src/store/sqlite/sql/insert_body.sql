-- insert_body.sql: an event's unchanging part.
INSERT INTO event_body (id, event_id, queue, title, tags, correlation_id, priority, max_retries, created_at,
                        description, payload)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);
