-- postgres_fill_ready.sql: the ready rows of the live events $1 to $2, one per tag.
INSERT INTO eventq.event_ready (queue, tag, rank, turn, id)
SELECT q.queue, t.tag, -q.priority, q.turn, q.id
  FROM eventq.event_queue AS q
  JOIN eventq.event_body AS b ON b.id = q.id, unnest(string_to_array(b.tags, ',')) AS t (tag)
 WHERE q.id BETWEEN $1 AND $2 AND q.ready = 1
