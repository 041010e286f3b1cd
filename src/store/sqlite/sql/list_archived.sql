-- list_archived.sql: ended events with ids between ?1 and ?2, ordered by id. Used for COMPLETED: most rows match, so no index by
-- status is needed.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM event_archive AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id > ?1 AND s.id < ?2
 ORDER BY s.id;
