-- picked_by.sql: a row if worker ?2 ever picked event ?1.
SELECT 1 FROM event_log WHERE event_id = ?1 AND worker_id = ?2 AND action = 'PICKED' LIMIT 1;
