-- delete_correlation.sql: its last event has left.
DELETE FROM correlation WHERE id = ?1;
