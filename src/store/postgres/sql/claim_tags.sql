-- claim_tags.sql: as claim.sql, of the ready events with any of the tags $7. Reads the first $8 entries of each tag.
-- The last columns are how many events those are, and how many entries. The caller reads more entries when all of these
-- events were locked by others.
{{claim_begins}}, candidate AS MATERIALIZED (
  SELECT r.rank, r.turn, r.id, count(*) AS times
    FROM unnest($7::text[]) AS t (tag)
   CROSS JOIN {{claim_ranges}}
   CROSS JOIN LATERAL (SELECT rank, turn, id
                         FROM eventq.event_ready
                        WHERE queue = $1 AND tag = t.tag AND {{in_claim_range}}
                        ORDER BY rank, turn
                        LIMIT $8) AS r
   GROUP BY r.rank, r.turn, r.id
), locked AS MATERIALIZED (
  SELECT q.*
    FROM (SELECT id FROM candidate ORDER BY rank, turn) AS r
{{locked_by_id}}
)
{{claimed}},
       (SELECT count(*) FROM candidate), (SELECT coalesce(sum(times), 0)::bigint FROM candidate)
{{from_locked}}
