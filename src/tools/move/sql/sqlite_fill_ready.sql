-- sqlite_fill_ready.sql: the ready rows of the live events ?1 to ?2, one per tag.
INSERT INTO event_ready (queue, tag, priority, turn, id)
SELECT q.queue, t.value, b.priority, q.turn, q.id
  FROM event_queue AS q
  JOIN event_body AS b ON b.id = q.id, json_each('["' || replace(b.tags, ',', '","') || '"]') AS t
 WHERE q.id BETWEEN ?1 AND ?2 AND q.ready = 1;
