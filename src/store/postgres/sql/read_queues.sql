-- read_queues.sql: the queues $1, or all queues if none is named, by name.
SELECT id, config, status, status_by, status_reason, status_at, created_at, updated_at
  FROM eventq.stored_queue
 WHERE id = ANY (CASE cardinality($1::text[]) WHEN 0 THEN ARRAY (SELECT id FROM eventq.stored_queue) ELSE $1 END)
 ORDER BY id;
