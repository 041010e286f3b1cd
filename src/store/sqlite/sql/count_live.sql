-- count_live.sql: live events by queue and status, counted from their rows, to check the counters.
SELECT queue, status, count(*)
  FROM event_queue
 GROUP BY queue, status;
