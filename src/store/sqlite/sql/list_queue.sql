-- list_queue.sql: live events of queue ?2 with id > ?1, ordered by id.
SELECT {{state_of_live}}, {{envelope}}, {{no_content}}
  FROM event_queue AS s INDEXED BY event_queue_live
  JOIN event_body AS b ON b.id = s.id
 WHERE s.queue = ?2 AND s.id > ?1
 ORDER BY s.id;
