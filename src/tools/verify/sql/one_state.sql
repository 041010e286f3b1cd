-- one_state.sql: events that are not in exactly one of event_queue and event_archive.
SELECT 'event ' || b.id || ' has ' || count(s.id) || ' states'
  FROM event_body AS b
  LEFT JOIN (SELECT id FROM event_queue UNION ALL SELECT id FROM event_archive) AS s ON s.id = b.id
 GROUP BY b.id HAVING count(s.id) <> 1;
