-- add_applied.sql: stores an applied event; no error if it is stored already.
INSERT INTO applied (notebook, event) VALUES (?1, ?2) ON CONFLICT DO NOTHING;
