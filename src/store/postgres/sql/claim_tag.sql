-- claim_tag.sql: as claim.sql, of the ready events with the tag $7. Each row is locked before the next index entry is
-- read, so an event that another transaction has locked costs one step.
WITH before AS MATERIALIZED (
  SELECT pg_stat_get_xact_tuples_returned('eventq.event_ready_turn'::regclass) AS entries
), locked AS MATERIALIZED (
  SELECT q.*
    FROM unnest($4::bigint[], $5::bigint[], $6::bigint[]) AS range (rank, turn, last)
   CROSS JOIN LATERAL (SELECT id
                         FROM eventq.event_ready
                        WHERE queue = $1 AND tag = $7
                          AND (rank, turn) >= (range.rank, range.turn) AND rank <= range.last
                        ORDER BY rank, turn) AS r
{{locked_by_id}}
)
SELECT {{claimed}}
  FROM before
 CROSS JOIN LATERAL (SELECT count(*) AS locked,
                            pg_stat_get_xact_tuples_returned('eventq.event_ready_turn'::regclass) - before.entries
                              - count(*) AS wasted
                       FROM locked) AS n
{{bodies_of_locked}}
