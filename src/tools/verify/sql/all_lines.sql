-- all_lines.sql: events with an ordering_key, line by line, ordered by id: the order in which they must run.
SELECT id, queue, ordering_key
  FROM event_body
 WHERE ordering_key <> ''
 ORDER BY queue, ordering_key, id;
