-- next_due.sql: the earliest due_at of the events outside the ready index.
SELECT due_at
  FROM event_queue
 WHERE ready = 0
 ORDER BY due_at
 LIMIT 1;
