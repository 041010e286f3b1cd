-- queue_missing.sql: events whose queue has no row.
SELECT 'queue ' || queue || ' has events, but no row'
  FROM (SELECT DISTINCT queue FROM event_body) WHERE queue NOT IN (SELECT id FROM stored_queue);
