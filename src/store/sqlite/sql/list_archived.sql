-- list_archived.sql: completed events behind ?1 in the order of their ids; the common end.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM event_archive AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id > ?1
 ORDER BY s.id;
