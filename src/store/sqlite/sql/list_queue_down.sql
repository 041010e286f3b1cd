-- list_queue_down.sql: as list_queue.sql, the highest id first.
SELECT {{state_of_live}}, {{envelope}}, {{no_content}}
  FROM event_queue AS s INDEXED BY event_queue_live
  JOIN event_body AS b ON b.id = s.id
 WHERE s.queue = ?3 AND s.id > ?1 AND s.id < ?2
 ORDER BY s.id DESC;
