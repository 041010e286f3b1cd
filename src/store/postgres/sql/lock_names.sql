-- lock_names.sql: locks all names that a transaction uses, sorted by hash as in every transaction, so that none
-- deadlock.
--
-- The names are $1, those in the bodies of the events $2, and those in the bodies of the pending events with the
-- supersede keys $4 of the queues $3. Bodies never change, so reading them needs no lock.
WITH body AS MATERIALIZED (
  SELECT queue, ordering_key, supersede_key, correlation_id
    FROM eventq.event_body
   WHERE id = ANY (ARRAY (SELECT unnest($2::bigint[])
                           UNION ALL
                          SELECT s.id
                            FROM unnest($3::text[], $4::text[]) AS k (queue, supersede_key)
                           CROSS JOIN LATERAL (SELECT id FROM eventq.event_supersede
                                                WHERE queue = k.queue AND supersede_key = k.supersede_key
                                               OFFSET 0) AS s))
), name AS (
  SELECT unnest($1::text[]) AS name
   UNION ALL
  SELECT 'line:' || queue || ':' || ordering_key FROM body WHERE ordering_key <> ''
   UNION ALL
  SELECT 'supersede:' || queue || ':' || supersede_key FROM body WHERE supersede_key <> ''
   UNION ALL
  SELECT 'correlation:' || correlation_id FROM body WHERE correlation_id <> ''
)
SELECT pg_advisory_xact_lock(25969, hash)
  FROM (SELECT DISTINCT hashtext(name COLLATE "C") AS hash FROM name ORDER BY hash OFFSET 0) AS ordered
