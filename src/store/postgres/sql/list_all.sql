-- list_all.sql: up to $3 events with ids between $1 and $2, in order of id, in the columns of read_event.sql.
SELECT {{state_of_any}}, {{envelope}}, {{no_content}}
  FROM (SELECT * FROM eventq.event_body WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS b
  LEFT JOIN eventq.event_queue AS q ON q.id = b.id
  LEFT JOIN eventq.event_archive AS a ON a.id = b.id
 ORDER BY b.id;
