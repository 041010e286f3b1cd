-- first_events.sql: the first $2 live events of queue $1, whole, until their payloads reach $3 bytes.
SELECT {{state_of_live}}, {{envelope}}, {{content}}
  FROM (SELECT p.id, sum(octet_length(p.payload)) OVER (ORDER BY p.id) - octet_length(p.payload) AS bytes_before
          FROM (SELECT id FROM eventq.event_queue WHERE queue = $1 ORDER BY id LIMIT $2) AS q
          JOIN eventq.event_body AS p ON p.id = q.id) AS c
  JOIN eventq.event_queue AS s ON s.id = c.id
  JOIN eventq.event_body AS b ON b.id = c.id
 WHERE c.bytes_before < $3
 ORDER BY c.id;
