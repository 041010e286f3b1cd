-- find_correlation.sql: the counters of a correlation.
SELECT total, pending, completed, failed, kept, on_complete, queue FROM correlation WHERE id = ?1;
