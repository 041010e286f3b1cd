-- put_correlation.sql: sets the counters of a correlation.
INSERT OR REPLACE INTO correlation (id, total, pending, completed, failed, kept, on_complete, queue)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);
