-- list_live.sql: live events with id > ?1, ordered by id, in the columns of load_live.sql.
SELECT {{state_of_live}}, {{envelope}}, {{no_content}}
  FROM event_queue AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id > ?1
 ORDER BY s.id;
