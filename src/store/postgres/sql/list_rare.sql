-- list_rare.sql: up to $2 ended events of status $3 with ids above $1, from the index that leaves out completed events.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM (
        SELECT * FROM eventq.event_archive
         WHERE status <> 'COMPLETED' AND status = $3 AND id > $1
         ORDER BY id LIMIT $2) AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 ORDER BY s.id;
