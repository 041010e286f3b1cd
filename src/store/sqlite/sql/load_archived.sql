-- load_archived.sql: an ended event, in the columns of load_live.sql.
SELECT {{state_of_archived}}, {{envelope}}, {{content}}
  FROM event_archive AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id = ?1;
