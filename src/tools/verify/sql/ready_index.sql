-- ready_index.sql: differences between the ready events and the ready index that polls read.
WITH wanted AS (
  SELECT b.queue, t.value AS tag, b.priority, q.turn, b.id
    FROM event_queue AS q
    JOIN event_body AS b ON b.id = q.id
    JOIN json_each('["' || replace(b.tags, ',', '","') || '"]') AS t
   WHERE q.ready = 1
  UNION ALL
  SELECT b.queue, '', b.priority, q.turn, b.id
    FROM event_queue AS q
    JOIN event_body AS b ON b.id = q.id
   WHERE q.ready = 1 AND b.queue IN (SELECT queue FROM any_tag_queue))
SELECT 'event ' || id || ' is ready, but not in the ready index with tag ' || tag
  FROM (SELECT * FROM wanted EXCEPT SELECT queue, tag, priority, turn, id FROM event_ready)
 UNION ALL
SELECT 'event ' || id || ' is in the ready index with tag ' || tag || ', but not ready'
  FROM (SELECT queue, tag, priority, turn, id FROM event_ready EXCEPT SELECT * FROM wanted);
