-- list_archived.sql: up to $2 ended events with ids above $1, in order of id. Most of them are completed.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM (SELECT * FROM eventq.event_archive WHERE id > $1 ORDER BY id LIMIT $2) AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 ORDER BY s.id;
