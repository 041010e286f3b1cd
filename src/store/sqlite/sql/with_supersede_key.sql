-- with_supersede_key.sql: pending events of a queue with the same supersede_key, ordered by id.
SELECT id
  FROM event_supersede
 WHERE queue = ?1 AND supersede_key = ?2
 ORDER BY id;
