-- read_asks.sql: what workers asked for since $1. Requests until a worker's sign-off do not count.
SELECT a.worker_id, a.queue, a.tags, a.asked_at
  FROM eventq.worker_ask AS a
  LEFT JOIN eventq.worker_sign_off AS s ON s.worker_id = a.worker_id
 WHERE a.asked_at >= $1 AND (s.signed_off_at IS NULL OR a.asked_at > s.signed_off_at)
 ORDER BY a.worker_id, a.queue, a.tags;
