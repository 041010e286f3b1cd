-- claim.sql: up to $2 ready events of queue $1, the highest priority first, then the lowest turn. Skips events that
-- another transaction has locked. event_columns.sql has the parts that this statement shares with claim_tag.sql and
-- claim_tags.sql; only the index that `locked` reads differs. See docs/decisions/024-one-column-list.md.
--
-- MATERIALIZED and LIMIT together lock at most $2 rows, whatever the planner expects.
{{claim_begins}}, locked AS MATERIALIZED (
  SELECT q.*
    FROM {{claim_ranges}}
   CROSS JOIN LATERAL (SELECT {{locked_live}}
                         FROM eventq.event_queue AS q
                        WHERE q.queue = $1 AND q.ready = 1
                          AND (-q.priority, q.turn) >= (range.rank, range.turn) AND -q.priority <= range.last
                        ORDER BY -q.priority, q.turn
                          FOR UPDATE SKIP LOCKED) AS q
   LIMIT $2
)
{{claimed}}
{{from_locked}}
