-- list_queue.sql: up to $3 live events of queue $4 with ids between $1 and $2, in order of id.
SELECT {{state_of_live}}, {{envelope}}, {{no_content}}
  FROM (SELECT * FROM eventq.event_queue WHERE queue = $4 AND id > $1 AND id < $2 ORDER BY id LIMIT $3) AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 ORDER BY s.id;
