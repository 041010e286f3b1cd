-- list_rare.sql: ended events of status ?3 with ids between ?1 and ?2, by the index that leaves out COMPLETED.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM event_archive AS s INDEXED BY event_archive_status
  JOIN event_body AS b ON b.id = s.id
 WHERE s.status <> 'COMPLETED' AND s.status = ?3 AND s.id > ?1 AND s.id < ?2
 ORDER BY s.id;
