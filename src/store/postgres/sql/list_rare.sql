-- list_rare.sql: up to $3 ended events of status $4 with ids between $1 and $2, from the index that leaves out completed events.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM (
        SELECT * FROM eventq.event_archive
         WHERE status <> 'COMPLETED' AND status = $4 AND id > $1 AND id < $2
         ORDER BY id LIMIT $3) AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 ORDER BY s.id;
