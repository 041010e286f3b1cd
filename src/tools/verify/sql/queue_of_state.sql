-- queue_of_state.sql: events whose state names another queue than their body.
SELECT 'event ' || s.id || ' has another queue in its state than in its body'
  FROM (SELECT id, queue FROM event_queue UNION ALL SELECT id, queue FROM event_archive) AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE b.queue <> s.queue;
