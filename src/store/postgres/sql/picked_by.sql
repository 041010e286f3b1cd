-- picked_by.sql: those of the events $1 that worker $2 ever picked.
SELECT DISTINCT event_id FROM eventq.event_log
 WHERE event_id = ANY ($1::bigint[]) AND worker_id = $2 AND action = 'PICKED'
 ORDER BY event_id;
