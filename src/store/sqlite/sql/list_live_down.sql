-- list_live_down.sql: as list_live.sql, the highest id first.
SELECT {{state_of_live}}, {{envelope}}, {{no_content}}
  FROM event_queue AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id > ?1 AND s.id < ?2
 ORDER BY s.id DESC;
