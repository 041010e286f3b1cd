-- load_live.sql: a live event.
SELECT {{state_of_live}}, {{envelope}}, {{content}}
  FROM event_queue AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id = ?1;
