-- delete_correlation.sql: deletes the counters of a correlation whose last event was removed.
DELETE FROM correlation WHERE id = ?1;
