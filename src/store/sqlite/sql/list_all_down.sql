-- list_all_down.sql: as list_all.sql, the highest id first.
SELECT {{state_of_any}}, {{envelope}}, {{no_content}}
  FROM event_body AS b
  LEFT JOIN event_queue AS q ON q.id = b.id
  LEFT JOIN event_archive AS a ON a.id = b.id
 WHERE b.id > ?1 AND b.id < ?2
 ORDER BY b.id DESC;
