-- holding.sql: how many events of queue $2 worker $1 holds. Events whose lease was found to have expired do not count.
SELECT count(*)::bigint
  FROM eventq.event_queue
 WHERE worker_id = $1 AND queue = $2 AND status = 'PROCESSING' AND ready = 0;
