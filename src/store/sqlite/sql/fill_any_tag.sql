-- fill_any_tag.sql: the rows with the empty tag of what is ready already; once per queue.
INSERT INTO event_ready (queue, tag, priority, turn, id)
SELECT DISTINCT queue, '', priority, turn, id
  FROM event_ready
 WHERE queue = ?1;
