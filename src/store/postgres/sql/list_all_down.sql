-- list_all_down.sql: as list_all.sql, the highest id first.
SELECT {{state_of_any}}, {{envelope}}, {{no_content}}
  FROM (SELECT * FROM eventq.event_body WHERE id > $1 AND id < $2 ORDER BY id DESC LIMIT $3) AS b
  LEFT JOIN eventq.event_queue AS q ON q.id = b.id
  LEFT JOIN eventq.event_archive AS a ON a.id = b.id
 ORDER BY b.id DESC;
