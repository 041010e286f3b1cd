-- list_archived_down.sql: as list_archived.sql, the highest id first.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM event_archive AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id > ?1 AND s.id < ?2
 ORDER BY s.id DESC;
