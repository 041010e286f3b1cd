-- list_rare_down.sql: as list_rare.sql, the highest id first.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM event_archive AS s INDEXED BY event_archive_status
  JOIN event_body AS b ON b.id = s.id
 WHERE s.status <> 'COMPLETED' AND s.status = ?3 AND s.id > ?1 AND s.id < ?2
 ORDER BY s.id DESC;
