-- first_in_line.sql: the head of each line and the first behind it: of the keys $2 of the queues $1, and of those
-- that the bodies of the events $3 name. Heads of events, in the columns of load_live.sql.
WITH line AS (
  SELECT * FROM unnest($1::text[], $2::text[]) AS k (queue, ordering_key)
   UNION
  SELECT queue, ordering_key FROM eventq.event_body WHERE id = ANY ($3::bigint[]) AND ordering_key <> ''
), first AS MATERIALIZED (
  SELECT f.id, f.head
    FROM line AS l
   CROSS JOIN LATERAL ((SELECT id, head
                          FROM eventq.event_line
                         WHERE queue = l.queue AND ordering_key = l.ordering_key AND head = 1
                         LIMIT 1)
                        UNION ALL
                       (SELECT id, head
                          FROM eventq.event_line
                         WHERE queue = l.queue AND ordering_key = l.ordering_key AND head = 0
                         ORDER BY id
                         LIMIT 1)) AS f
)
SELECT b.id, b.queue, b.tags, b.priority, b.max_retries, b.created_at,
       coalesce(q.status, a.status), coalesce(q.attempts, a.attempts), coalesce(q.retry_count, a.retry_count),
       coalesce(q.unreported, a.unreported), coalesce(q.worker_id, a.worker_id),
       coalesce(q.due_at, a.updated_at), coalesce(q.updated_at, a.updated_at), coalesce(q.ready, 0),
       b.correlation_id, b.ordering_key, b.supersede_key, b.retry, coalesce(q.turn, b.id),
       coalesce(q.picked_at, a.picked_at), a.superseded_by, a.cause, coalesce(a.holds_line, 0), b.event_id, f.head
  FROM first AS f
 CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = f.id OFFSET 0) AS b
  LEFT JOIN eventq.event_queue AS q ON q.id = f.id
  LEFT JOIN eventq.event_archive AS a ON a.id = f.id
