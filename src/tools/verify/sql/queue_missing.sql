-- queue_missing.sql: events whose queue has no row.
SELECT 'there is no queue ' || queue
  FROM (SELECT DISTINCT queue FROM event_body) WHERE queue NOT IN (SELECT id FROM event_queue_state);
