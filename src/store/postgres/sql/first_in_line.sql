-- first_in_line.sql: the head of each line and the first behind it: of the keys $2 of the queues $1, and of those
-- that the bodies of the events $3 name. Returns their state, and 1 for a head.
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
SELECT {{state_of_any}}, f.head
  FROM first AS f
 CROSS JOIN LATERAL (SELECT * FROM eventq.event_body WHERE id = f.id OFFSET 0) AS b
  LEFT JOIN eventq.event_queue AS q ON q.id = f.id
  LEFT JOIN eventq.event_archive AS a ON a.id = f.id
