-- load_state.sql: the fields of a live event that rules read.
SELECT {{state_of_live}}
  FROM event_queue AS s
  JOIN event_body AS b ON b.id = s.id
 WHERE s.id = ?1;
