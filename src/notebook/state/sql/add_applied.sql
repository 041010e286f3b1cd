-- add_applied.sql: once, however often it is told.
INSERT INTO applied (notebook, event) VALUES (?1, ?2) ON CONFLICT DO NOTHING;
