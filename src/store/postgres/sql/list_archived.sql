-- list_archived.sql: up to $2 ended events behind $1 in the order of their ids; most are completed.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM (SELECT * FROM eventq.event_archive WHERE id > $1 ORDER BY id LIMIT $2) AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 ORDER BY s.id;
