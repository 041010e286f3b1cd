-- list_live.sql: up to $2 live events behind $1 in the order of their ids. The subquery reads the small
-- table first, whatever the planner expects of the two.
SELECT {{state_of_live}}, {{envelope}}, {{no_content}}
  FROM (SELECT * FROM eventq.event_queue WHERE id > $1 ORDER BY id LIMIT $2) AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 ORDER BY s.id;
