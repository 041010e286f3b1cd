-- list_archived_down.sql: as list_archived.sql, the highest id first.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM (SELECT * FROM eventq.event_archive WHERE id > $1 AND id < $2 ORDER BY id DESC LIMIT $3) AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 ORDER BY s.id DESC;
