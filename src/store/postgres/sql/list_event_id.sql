-- list_event_id.sql: the event with the global id $3, live or ended, if its id is above $1. $2 is at least 1.
SELECT {{state_of_any}}, {{envelope}}, {{no_content}}
  FROM (
        SELECT * FROM eventq.event_body
         WHERE event_id = $3 AND id > $1
         LIMIT $2) AS b
  LEFT JOIN eventq.event_queue AS q ON q.id = b.id
  LEFT JOIN eventq.event_archive AS a ON a.id = b.id;
