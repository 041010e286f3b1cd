-- state_without_body.sql: states without an event_body row.
SELECT 'state of ' || id || ' has no body'
  FROM (SELECT id FROM event_queue UNION ALL SELECT id FROM event_archive)
 WHERE id NOT IN (SELECT id FROM event_body);
