-- ended.sql: ended events of a queue in the order of their end: from $3 on and before $4. Of the events that ended
-- exactly at $3, only those with ids above $6. At most $5 events.
SELECT e.updated_at, e.id
  FROM unnest($2::text[]) AS s (status)
 CROSS JOIN LATERAL (SELECT updated_at, id
                       FROM eventq.event_archive
                      WHERE queue = $1 AND status = s.status AND updated_at >= $3 AND updated_at < $4
                        AND (updated_at > $3 OR id > $6)
                      ORDER BY updated_at, id
                      LIMIT $5) AS e
 ORDER BY e.updated_at, e.id
 LIMIT $5
