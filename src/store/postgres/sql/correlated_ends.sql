-- correlated_ends.sql: up to $2 ended events of correlation $1 with their results, ordered by id. Leaves out all that
-- follow $3 bytes of results. OFFSET 0 keeps the planner from reading whole tables for the two lookups.
SELECT id, event_id, status, result
  FROM (SELECT e.id, e.event_id, e.status, r.result, sum(octet_length(r.result)) OVER (ORDER BY e.id) AS bytes
          FROM (SELECT b.id, b.event_id, a.status
                  FROM eventq.event_body AS b
                 CROSS JOIN LATERAL (SELECT status FROM eventq.event_archive WHERE id = b.id OFFSET 0) AS a
                 WHERE b.correlation_id = $1 AND b.correlation_id <> ''
                 ORDER BY b.id LIMIT $2) AS e
          LEFT JOIN LATERAL (SELECT result FROM eventq.event_result WHERE id = e.id OFFSET 0) AS r ON true) AS c
 WHERE coalesce(bytes, 0) <= $3
 ORDER BY id;
