-- all_lines.sql: events with an ordering_key, line by line, in the order of their turns.
SELECT id, queue, ordering_key
  FROM event_body
 WHERE ordering_key <> ''
 ORDER BY queue, ordering_key, id;
