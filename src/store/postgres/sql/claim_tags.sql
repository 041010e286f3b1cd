-- claim_tags.sql: as claim.sql, of the ready events with any of the tags $7. Looks at the first $8 of each tag, and
-- says in the last column how many those are, so that the caller can look further when others are at them; so, those
-- are not among the entries read in vain.
WITH before AS MATERIALIZED (
  SELECT pg_stat_get_xact_tuples_returned('eventq.event_ready_turn'::regclass) AS entries
), candidate AS MATERIALIZED (
  SELECT r.rank, r.turn, r.id, count(*) AS times
    FROM unnest($7::text[]) AS t (tag)
   CROSS JOIN unnest($4::bigint[], $5::bigint[], $6::bigint[]) AS range (rank, turn, last)
   CROSS JOIN LATERAL (SELECT rank, turn, id
                         FROM eventq.event_ready
                        WHERE queue = $1 AND tag = t.tag
                          AND (rank, turn) >= (range.rank, range.turn) AND rank <= range.last
                        ORDER BY rank, turn
                        LIMIT $8) AS r
   GROUP BY r.rank, r.turn, r.id
), locked AS MATERIALIZED (
  SELECT q.*
    FROM (SELECT id FROM candidate ORDER BY rank, turn) AS r
   CROSS JOIN LATERAL (SELECT id, status, attempts, retry_count, unreported, worker_id, due_at, updated_at, ready,
                              turn, picked_at
                         FROM eventq.event_queue
                        WHERE id = r.id AND ready = 1
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
       n.locked, n.waded,
       (SELECT count(*) FROM candidate)
  FROM before
 CROSS JOIN LATERAL (SELECT count(*) AS locked,
                            pg_stat_get_xact_tuples_returned('eventq.event_ready_turn'::regclass) - before.entries
                              - (SELECT coalesce(sum(times), 0) FROM candidate)::bigint AS waded
                       FROM locked) AS n
  LEFT JOIN (locked AS s CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = s.id OFFSET 0) AS b) ON true
