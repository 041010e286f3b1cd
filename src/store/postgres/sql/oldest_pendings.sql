-- oldest_pendings.sql: when the oldest pending event of each queue was published. Null: the queue has none.
SELECT q.id, b.created_at
  FROM eventq.stored_queue AS q
  LEFT JOIN LATERAL (SELECT id FROM eventq.event_queue
                      WHERE queue = q.id AND status = 'PENDING'
                      ORDER BY id
                      LIMIT 1) AS s ON true
  LEFT JOIN eventq.event_body AS b ON b.id = s.id;
