-- first_logs.sql: the logs of the events of first_events.sql, each event's oldest entry first, in the columns of
-- event_log.sql. Details are left out, because they can be large.
SELECT l.id, l.event_id, l.attempt, l.worker_id, l.action, l.status_code, l.error_message, l.execution_time_ms, l.errors,
       l.reason, l.retry_count, l.next_retry_at, l.created_at, a.author, NULL::text AS detail
  FROM eventq.event_log AS l
  LEFT JOIN eventq.event_log_author AS a ON a.event_id = l.event_id AND a.id = l.id
 WHERE l.event_id = ANY (ARRAY (
         SELECT c.id
           FROM (SELECT p.id, sum(octet_length(p.payload)) OVER (ORDER BY p.id) - octet_length(p.payload) AS bytes_before
                   FROM (SELECT id FROM eventq.event_queue WHERE queue = $1 ORDER BY id LIMIT $2) AS q
                   JOIN eventq.event_body AS p ON p.id = q.id) AS c
          WHERE c.bytes_before < $3))
 ORDER BY l.event_id, l.id;
