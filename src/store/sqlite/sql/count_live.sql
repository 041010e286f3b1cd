-- count_live.sql: live events by queue and status, from their rows: what the counters must say.
SELECT queue, status, count(*)
  FROM event_queue
 GROUP BY queue, status;
