-- read_asks.sql: what workers ask for. Requests until a worker's sign-off do not count.
SELECT a.worker_id, a.queue, a.tags, a.asked_at
  FROM worker_ask AS a
  LEFT JOIN worker_sign_off AS s ON s.worker_id = a.worker_id
 WHERE s.signed_off_at IS NULL OR a.asked_at > s.signed_off_at
 ORDER BY a.worker_id, a.queue, a.tags;
