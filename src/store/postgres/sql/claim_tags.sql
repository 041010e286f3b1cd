-- claim_tags.sql: as claim_from.sql, of the ready events with any of the tags $4, from the place ($5, $6) on. Looks at
-- the first $7 of each tag, and says how many those are, so that the caller can look further when others are at them.
WITH candidate AS MATERIALIZED (
  SELECT DISTINCT r.priority, r.turn, r.id
    FROM unnest($4::text[]) AS t (tag)
   CROSS JOIN LATERAL ((SELECT priority, turn, id
                          FROM eventq.event_ready
                         WHERE queue = $1 AND tag = t.tag AND priority > $5
                         ORDER BY priority DESC, turn
                         LIMIT $7)
                        UNION ALL
                       (SELECT priority, turn, id
                          FROM eventq.event_ready
                         WHERE queue = $1 AND tag = t.tag AND priority = $5 AND turn >= $6
                         ORDER BY priority DESC, turn
                         LIMIT $7)
                        UNION ALL
                       (SELECT priority, turn, id
                          FROM eventq.event_ready
                         WHERE queue = $1 AND tag = t.tag AND priority < $5
                         ORDER BY priority DESC, turn
                         LIMIT $7)) AS r
), locked AS MATERIALIZED (
  SELECT q.*
    FROM (SELECT id FROM candidate ORDER BY priority DESC, turn) AS c
   CROSS JOIN LATERAL (SELECT id, status, attempts, retry_count, unreported, worker_id, due_at, updated_at, ready,
                              turn, picked_at, priority
                         FROM eventq.event_queue
                        WHERE id = c.id AND ready = 1
                          FOR UPDATE SKIP LOCKED) AS q
   LIMIT $2
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
  FROM (SELECT (SELECT count(*) FROM locked) AS locked, (SELECT count(*) FROM candidate) AS candidates) AS n
  LEFT JOIN event AS e ON e.before < $3
 ORDER BY e.priority DESC, e.turn
