-- state_without_body.sql: states without an event_body row.
SELECT 'event ' || id || ' has a state, but no body'
  FROM (SELECT id FROM event_queue UNION ALL SELECT id FROM event_archive)
 WHERE id NOT IN (SELECT id FROM event_body);
