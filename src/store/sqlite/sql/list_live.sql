-- list_live.sql: live events with ids between ?1 and ?2, ordered by id, in the columns of load_live.sql.
SELECT {{state_of_live}}, {{envelope}}, {{no_content}}
  FROM event_queue AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id > ?1 AND s.id < ?2
 ORDER BY s.id;
