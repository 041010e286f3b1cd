-- fill_any_tag.sql: adds a row with the empty tag for each ready event; runs once per queue.
INSERT INTO event_ready (queue, tag, priority, turn, id)
SELECT DISTINCT queue, '', priority, turn, id
  FROM event_ready
 WHERE queue = ?1;
