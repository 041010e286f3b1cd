-- published.sql: queues with more events, stored or removed, than were published to them.
SELECT 'queue ' || queue || ' has ' || there || ' events, removed ' || removed || ' and published ' || published
  FROM (SELECT q.queue, coalesce(t.published, 0) AS published, coalesce(t.removed, 0) AS removed,
               (SELECT count(*) FROM event_queue WHERE queue = q.queue)
               + (SELECT count(*) FROM event_archive WHERE queue = q.queue) AS there
          FROM (SELECT queue FROM queue_total
                UNION SELECT queue FROM event_queue
                UNION SELECT queue FROM event_archive) AS q
          LEFT JOIN queue_total AS t ON t.queue = q.queue)
 WHERE published < there + removed;
