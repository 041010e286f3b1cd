-- due.sql: events outside the ready index that are due.
SELECT id
  FROM event_queue
 WHERE ready = 0 AND due_at <= ?1
 ORDER BY due_at
 LIMIT ?2;
