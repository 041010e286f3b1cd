-- add_pending.sql: stores a change that no commit contains yet.
INSERT INTO pending (notebook, path, event_id, correlation_id, since) VALUES (?1, ?2, ?3, ?4, ?5);
