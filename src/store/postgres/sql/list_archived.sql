-- list_archived.sql: up to $3 ended events with ids between $1 and $2, in order of id. Most of them are completed.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM (SELECT * FROM eventq.event_archive WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 ORDER BY s.id;
