-- list_rare.sql: up to $2 ended events of status $3 behind $1, by the index that leaves the completed out.
SELECT {{state_of_archived}}, {{envelope}}, {{no_content}}
  FROM (
        SELECT * FROM eventq.event_archive
         WHERE status <> 'COMPLETED' AND status = $3 AND id > $1
         ORDER BY id LIMIT $2) AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 ORDER BY s.id;
