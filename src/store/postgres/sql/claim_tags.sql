-- claim_tags.sql: as claim.sql, of the ready events with any of the tags $7. Reads the first $8 entries of each tag.
-- The last column is how many events those are, so that the caller can read more when all of them were locked by
-- others. Those entries do not count as read for nothing.
WITH before AS MATERIALIZED (
  SELECT pg_stat_get_xact_tuples_returned('eventq.event_ready_turn'::regclass) AS entries
), candidate AS MATERIALIZED (
  SELECT r.rank, r.turn, r.id, count(*) AS times
    FROM unnest($7::text[]) AS t (tag)
   CROSS JOIN unnest($4::bigint[], $5::bigint[], $6::bigint[]) AS range (rank, turn, last)
   CROSS JOIN LATERAL (SELECT rank, turn, id
                         FROM eventq.event_ready
                        WHERE queue = $1 AND tag = t.tag
                          AND (rank, turn) >= (range.rank, range.turn) AND rank <= range.last
                        ORDER BY rank, turn
                        LIMIT $8) AS r
   GROUP BY r.rank, r.turn, r.id
), locked AS MATERIALIZED (
  SELECT q.*
    FROM (SELECT id FROM candidate ORDER BY rank, turn) AS r
{{locked_by_id}}
)
SELECT {{claimed}},
       (SELECT count(*) FROM candidate)
  FROM before
 CROSS JOIN LATERAL (SELECT count(*) AS locked,
                            pg_stat_get_xact_tuples_returned('eventq.event_ready_turn'::regclass) - before.entries
                              - (SELECT coalesce(sum(times), 0) FROM candidate)::bigint AS wasted
                       FROM locked) AS n
{{bodies_of_locked}}
