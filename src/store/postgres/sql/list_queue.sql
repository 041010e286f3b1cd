-- list_queue.sql: up to $2 live events of queue $3 with ids above $1, in order of id.
SELECT {{state_of_live}}, {{envelope}}, {{no_content}}
  FROM (SELECT * FROM eventq.event_queue WHERE queue = $3 AND id > $1 ORDER BY id LIMIT $2) AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 ORDER BY s.id;
