-- first_events.sql: the first $2 live events of queue $1, whole, until their payloads reach $3 bytes.
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, s.turn, s.picked_at, NULL::bigint, NULL::text,
       0::bigint,
       b.event_id, b.title, b.sequence, b.timestamp, b.causation_id, b.trace_id, b.pattern, b.version,
       b.source_type, b.source_id, b.source_name, b.attributes, b.description, b.payload
  FROM (SELECT p.id, sum(octet_length(p.payload)) OVER (ORDER BY p.id) - octet_length(p.payload) AS bytes_before
          FROM (SELECT id FROM eventq.event_queue WHERE queue = $1 ORDER BY id LIMIT $2) AS q
          JOIN eventq.event_body AS p ON p.id = q.id) AS c
  JOIN eventq.event_queue AS s ON s.id = c.id
  JOIN eventq.event_body AS b ON b.id = c.id
 WHERE c.bytes_before < $3
 ORDER BY c.id;
