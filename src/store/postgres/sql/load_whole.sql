-- load_whole.sql: events, live or ended, whole and without a lock.
SELECT {{state_of_any}}, {{envelope}}, {{content}}
  FROM eventq.event_body AS b
  LEFT JOIN eventq.event_queue AS q ON q.id = b.id
  LEFT JOIN eventq.event_archive AS a ON a.id = b.id
 WHERE b.id = ANY ($1::bigint[])
