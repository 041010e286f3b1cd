-- claim.sql: up to $2 ready events of queue $1, the highest priority first, then the lowest turn; not those that
-- others are at. Looks into the ranges of the index that begin at ($4, $5) and end with $6, a rank being -priority.
-- Payloads of more than $3 bytes are left out.
--
-- MATERIALIZED and LIMIT together lock no more than $2, whatever the planner thinks. The last columns are how many
-- that were, and how many entries of the index were read in vain: of events that are gone, or that others are at.
WITH before AS MATERIALIZED (
  SELECT pg_stat_get_xact_tuples_returned('eventq.event_queue_ready'::regclass) AS entries
), locked AS MATERIALIZED (
  SELECT q.*
    FROM unnest($4::bigint[], $5::bigint[], $6::bigint[]) AS range (rank, turn, last)
   CROSS JOIN LATERAL (SELECT id, status, attempts, retry_count, unreported, worker_id, due_at, updated_at, ready,
                              turn, picked_at
                         FROM eventq.event_queue
                        WHERE queue = $1 AND ready = 1
                          AND (-priority, turn) >= (range.rank, range.turn) AND -priority <= range.last
                        ORDER BY -priority, turn
                          FOR UPDATE SKIP LOCKED) AS q
   LIMIT $2
)
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       s.status, s.attempts, s.retry_count, s.unreported, s.worker_id, s.due_at, s.updated_at, s.ready,
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, s.turn, s.picked_at, NULL::bigint, NULL::text,
       0::bigint,
       b.event_id, b.title, b.sequence, b.timestamp, b.causation_id, b.trace_id, b.pattern, b.version,
       b.source_type, b.source_id, b.source_name, b.attributes, b.description,
       CASE WHEN octet_length(b.payload) <= $3 THEN b.payload END,
       n.locked, n.waded
  FROM before
 CROSS JOIN LATERAL (SELECT count(*) AS locked,
                            pg_stat_get_xact_tuples_returned('eventq.event_queue_ready'::regclass) - before.entries
                              - count(*) AS waded
                       FROM locked) AS n
  LEFT JOIN (locked AS s CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = s.id OFFSET 0) AS b) ON true
