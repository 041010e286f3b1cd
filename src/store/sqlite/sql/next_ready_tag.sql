-- next_ready_tag.sql: the first tag after ?2 that a ready event of queue ?1 has. One index seek per tag, however many
-- events have it. The empty tag is not found: its rows are for claims without tags.
SELECT tag
  FROM event_ready
 WHERE queue = ?1 AND tag > ?2
 ORDER BY tag
 LIMIT 1;
