-- with_supersede_key.sql: pending events with the same supersede_key.
SELECT id
  FROM event_supersede
 WHERE queue = ?1 AND supersede_key = ?2
 ORDER BY id;
