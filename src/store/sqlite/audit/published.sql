-- published.sql: queues with more events than were published to them.
SELECT 'queue ' || b.queue || ' has ' || count(*) || ' events and published ' || coalesce(t.published, 0)
  FROM event_body AS b
  LEFT JOIN queue_total AS t ON t.queue = b.queue
 GROUP BY b.queue HAVING count(*) > coalesce(t.published, 0);
