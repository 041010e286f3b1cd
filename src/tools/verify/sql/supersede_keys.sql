-- supersede_keys.sql: differences between the pending events with a supersede_key and event_supersede.
WITH wanted AS (
  SELECT b.queue, b.supersede_key, b.id
    FROM event_queue AS q
    JOIN event_body AS b ON b.id = q.id
   WHERE b.supersede_key <> '' AND q.status = 'PENDING')
SELECT 'event ' || id || ' is pending, but not in event_supersede with key ' || supersede_key
  FROM (SELECT * FROM wanted EXCEPT SELECT queue, supersede_key, id FROM event_supersede)
 UNION ALL
SELECT 'event ' || id || ' is in event_supersede with key ' || supersede_key || ', but not pending'
  FROM (SELECT queue, supersede_key, id FROM event_supersede EXCEPT SELECT * FROM wanted);
