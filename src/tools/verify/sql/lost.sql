-- lost.sql: queues with fewer events, stored or removed, than were published to them.
SELECT 'of ' || published || ' events published to queue ' || queue || ' ' || there || ' are there and ' || removed
       || ' were removed after their end; ' || (published - there - removed) || ' are lost'
  FROM (SELECT queue, published, removed,
               (SELECT count(*) FROM event_queue WHERE queue = t.queue)
               + (SELECT count(*) FROM event_archive WHERE queue = t.queue) AS there
          FROM queue_total AS t)
 WHERE published > there + removed;
