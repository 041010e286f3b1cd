-- claim.sql: up to $2 ready events of queue $1, the highest priority first, then the lowest turn. Skips events that
-- another transaction has locked. Reads the ranges of the index that begin at ($4, $5) and end with $6; a rank is
-- -priority. Leaves out payloads of more than $3 bytes.
--
-- MATERIALIZED and LIMIT together lock at most $2 rows, whatever the planner expects. The last columns are how many
-- rows were locked, and how many index entries were read for nothing: of deleted events, or of skipped ones.
-- claim_tag.sql and claim_tags.sql are the same query over another index; see docs/decisions/024-one-column-list.md.
WITH before AS MATERIALIZED (
  SELECT pg_stat_get_xact_tuples_returned('eventq.event_queue_ready'::regclass) AS entries
), locked AS MATERIALIZED (
  SELECT q.*
    FROM unnest($4::bigint[], $5::bigint[], $6::bigint[]) AS range (rank, turn, last)
   CROSS JOIN LATERAL (SELECT {{locked_live}}
                         FROM eventq.event_queue AS q
                        WHERE q.queue = $1 AND q.ready = 1
                          AND (-q.priority, q.turn) >= (range.rank, range.turn) AND -q.priority <= range.last
                        ORDER BY -q.priority, q.turn
                          FOR UPDATE SKIP LOCKED) AS q
   LIMIT $2
)
SELECT {{claimed}}
  FROM before
 CROSS JOIN LATERAL (SELECT count(*) AS locked,
                            pg_stat_get_xact_tuples_returned('eventq.event_queue_ready'::regclass) - before.entries
                              - count(*) AS wasted
                       FROM locked) AS n
{{bodies_of_locked}}
