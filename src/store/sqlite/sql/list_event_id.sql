-- list_event_id.sql: the event with the global id ?3, live or ended, if its id is between ?1 and ?2.
SELECT {{state_of_any}}, {{envelope}}, {{no_content}}
  FROM event_body AS b
  LEFT JOIN event_queue AS q ON q.id = b.id
  LEFT JOIN event_archive AS a ON a.id = b.id
 WHERE b.event_id = ?3 AND b.id > ?1 AND b.id < ?2;
