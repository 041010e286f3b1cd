-- add_pending.sql: a change that is in no commit yet.
INSERT INTO pending (notebook, path, event_id, correlation_id, since) VALUES (?1, ?2, ?3, ?4, ?5);
