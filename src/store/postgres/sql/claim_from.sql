-- claim_from.sql: as claim.sql, from the place ($4, $5) on. The index runs down in priority and up in turn, so what
-- comes before, at and behind the place's priority are three ranges of it.
WITH above AS MATERIALIZED (
  SELECT q.id, q.status, q.attempts, q.retry_count, q.unreported, q.worker_id, q.due_at, q.updated_at, q.ready,
         q.turn, q.picked_at, q.priority
    FROM eventq.event_queue AS q
   WHERE q.queue = $1 AND q.ready = 1 AND q.priority > $4
   ORDER BY q.priority DESC, q.turn
   LIMIT $2
     FOR UPDATE OF q SKIP LOCKED
), level AS MATERIALIZED (
  SELECT q.id, q.status, q.attempts, q.retry_count, q.unreported, q.worker_id, q.due_at, q.updated_at, q.ready,
         q.turn, q.picked_at, q.priority
    FROM eventq.event_queue AS q
   WHERE q.queue = $1 AND q.ready = 1 AND q.priority = $4 AND q.turn >= $5
   ORDER BY q.priority DESC, q.turn
   LIMIT $2 - (SELECT count(*) FROM above)
     FOR UPDATE OF q SKIP LOCKED
), below AS MATERIALIZED (
  SELECT q.id, q.status, q.attempts, q.retry_count, q.unreported, q.worker_id, q.due_at, q.updated_at, q.ready,
         q.turn, q.picked_at, q.priority
    FROM eventq.event_queue AS q
   WHERE q.queue = $1 AND q.ready = 1 AND q.priority < $4
   ORDER BY q.priority DESC, q.turn
   LIMIT $2 - (SELECT count(*) FROM above) - (SELECT count(*) FROM level)
     FOR UPDATE OF q SKIP LOCKED
), locked AS MATERIALIZED (
  SELECT * FROM above UNION ALL SELECT * FROM level UNION ALL SELECT * FROM below
), event AS MATERIALIZED (
  SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
         s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
         b.correlation_id, b.ordering_key, b.supersede_key, b.retry, s.turn, s.picked_at,
         b.event_id, b.title, b.sequence, b.timestamp, b.causation_id, b.trace_id, b.pattern, b.version,
         b.source_type, b.source_id, b.source_name, b.attributes, b.description, b.payload,
         sum(octet_length(b.payload)) OVER (ORDER BY s.priority DESC, s.turn) - octet_length(b.payload) AS before
    FROM locked AS s
   CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = s.id OFFSET 0) AS b
)
SELECT e.id, e.queue, e.tags, e.priority, e.max_retries, e.created_at,
       e.status, e.attempts, e.retry_count, e.unreported, e.worker_id, e.due_at, e.updated_at, e.ready,
       e.correlation_id, e.ordering_key, e.supersede_key, e.retry, e.turn, e.picked_at, NULL::bigint, NULL::text,
       0::bigint,
       e.event_id, e.title, e.sequence, e.timestamp, e.causation_id, e.trace_id, e.pattern, e.version,
       e.source_type, e.source_id, e.source_name, e.attributes, e.description, e.payload,
       n.locked, n.candidates, CASE WHEN n.locked > 0 THEN nextval('eventq.log_number') END,
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000)::bigint
  FROM (SELECT (SELECT count(*) FROM locked) AS locked, 0::bigint AS candidates) AS n
  LEFT JOIN event AS e ON e.before < $3
 ORDER BY e.priority DESC, e.turn
