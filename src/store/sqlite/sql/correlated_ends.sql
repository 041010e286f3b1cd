-- correlated_ends.sql: up to ?2 ended events of correlation ?1 with their results, ordered by id.
SELECT b.id, b.event_id, a.status, r.result
  FROM event_body AS b
  JOIN event_archive AS a ON a.id = b.id
  LEFT JOIN event_result AS r ON r.id = b.id
 WHERE b.correlation_id = ?1 AND b.correlation_id <> ''
 ORDER BY b.id LIMIT ?2;
