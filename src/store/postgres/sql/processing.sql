-- processing.sql: the state of all events that workers hold.
SELECT {{state_of_live}}
  FROM eventq.event_queue AS s
  JOIN eventq.event_body AS b ON b.id = s.id
 WHERE s.status = 'PROCESSING'
 ORDER BY s.id;
