-- put_correlation.sql: new counters.
INSERT OR REPLACE INTO correlation (id, total, pending, completed, failed, kept, on_complete, queue)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);
