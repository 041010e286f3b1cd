-- list_correlation.sql: up to $2 events of correlation $3 with ids above $1, live or ended, in order of id.
SELECT {{state_of_any}}, {{envelope}}, {{no_content}}
  FROM (
        SELECT * FROM eventq.event_body
         WHERE correlation_id = $3 AND correlation_id <> '' AND id > $1
         ORDER BY id LIMIT $2) AS b
  LEFT JOIN eventq.event_queue AS q ON q.id = b.id
  LEFT JOIN eventq.event_archive AS a ON a.id = b.id
 ORDER BY b.id;
