-- unattended.sql: for each queue of $1, in their order, how many ready events have none of the tags that workers ask
-- for there. $2 has the place of the queue in $1, and $3 the tag, of each tag asked for. Counts at most $4 events
-- and reads at most $5 entries of a queue. `seen` seeks from tag to tag, however many events have one. An event with
-- several tags is counted with the first of them only.
SELECT (SELECT count(*)::bigint
          FROM (WITH RECURSIVE seen (tag, place) AS (
                  (SELECT tag, 1 FROM eventq.event_ready WHERE queue = q.queue ORDER BY tag LIMIT 1)
                  UNION ALL
                  SELECT following.tag, seen.place + 1
                    FROM seen
                   CROSS JOIN LATERAL (SELECT tag
                                         FROM eventq.event_ready
                                        WHERE queue = q.queue AND tag > seen.tag
                                        ORDER BY tag
                                        LIMIT 1) AS following
                   WHERE seen.place < $5
                )
                SELECT 1
                  FROM (SELECT seen.tag, r.id
                          FROM seen
                         CROSS JOIN LATERAL (SELECT id
                                               FROM eventq.event_ready
                                              WHERE queue = q.queue AND tag = seen.tag
                                              ORDER BY rank, turn
                                              LIMIT $5) AS r
                         WHERE seen.tag <> ALL (asked.tags)
                         LIMIT $5) AS r
                 CROSS JOIN LATERAL (SELECT string_to_array(tags, ',') AS tags
                                       FROM eventq.event_body
                                      WHERE id = r.id
                                      LIMIT 1) AS b
                 WHERE NOT b.tags && asked.tags
                   AND r.tag = (SELECT min(t.tag COLLATE "C") FROM unnest(b.tags) AS t (tag))
                 LIMIT $4) AS found)
  FROM unnest($1::text[]) WITH ORDINALITY AS q (queue, place)
 CROSS JOIN LATERAL (SELECT coalesce(array_agg(a.tag), '{}') AS tags
                       FROM unnest($2::bigint[], $3::text[]) AS a (place, tag)
                      WHERE a.place = q.place) AS asked
 ORDER BY q.place;
