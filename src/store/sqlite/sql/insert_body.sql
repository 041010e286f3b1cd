-- insert_body.sql: the part of an event that never changes.
INSERT INTO event_body (id, event_id, queue, title, tags, correlation_id, ordering_key, supersede_key, priority,
                        max_retries, retry, created_at, sequence, timestamp, causation_id, trace_id, pattern,
                        version, source_type, source_id, source_name, attributes, description, payload)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
        ?24);
