-- read_event.sql: an event, live or ended, with all fields: the columns of processing.sql, then the envelope, the content
-- and the result, which may be null.
SELECT {{state_of_any}}, {{envelope}}, {{content}}, r.result
  FROM eventq.event_body AS b
  LEFT JOIN eventq.event_queue AS q ON q.id = b.id
  LEFT JOIN eventq.event_archive AS a ON a.id = b.id
  LEFT JOIN eventq.event_result AS r ON r.id = b.id
 WHERE b.id = $1;
