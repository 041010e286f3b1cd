-- list_event_id.sql: the event with the global id $4, live or ended, if its id is between $1 and $2. $3 is at least 1.
SELECT {{state_of_any}}, {{envelope}}, {{no_content}}
  FROM (
        SELECT * FROM eventq.event_body
         WHERE event_id = $4 AND id > $1 AND id < $2
         LIMIT $3) AS b
  LEFT JOIN eventq.event_queue AS q ON q.id = b.id
  LEFT JOIN eventq.event_archive AS a ON a.id = b.id;
