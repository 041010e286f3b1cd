-- next_due.sql: when the next event outside the ready index comes due.
SELECT due_at
  FROM event_queue
 WHERE ready = 0
 ORDER BY due_at
 LIMIT 1;
