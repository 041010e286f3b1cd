-- first_logs.sql: the logs of the events of first_events.sql, each event's oldest entry first.
SELECT id, event_id, attempt, worker_id, action, status_code, error_message, execution_time_ms, errors, reason,
       retry_count, next_retry_at, created_at
  FROM eventq.event_log
 WHERE event_id = ANY (ARRAY (
         SELECT c.id
           FROM (SELECT p.id, sum(octet_length(p.payload)) OVER (ORDER BY p.id) - octet_length(p.payload) AS bytes_before
                   FROM (SELECT id FROM eventq.event_queue WHERE queue = $1 ORDER BY id LIMIT $2) AS q
                   JOIN eventq.event_body AS p ON p.id = q.id) AS c
          WHERE c.bytes_before < $3))
 ORDER BY event_id, id;
